// Any text as a configuration: it is refused with a path and a sentence for each fault, or what is
// in force can be written down and loads again to the same.
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "config/describe/effective.hpp"
#include "config/file/load.hpp"
#include "config/format.hpp"
#include "fuzz/claim.hpp"
#include "fuzz/targets.hpp"
#include "traffic/classify/classify.hpp"

namespace spillway::fuzz {
namespace {

using config::LoadResult;

constexpr std::string_view kFile = "fuzz.json";
// Nothing is read but what a text names by its whole path.
const std::filesystem::path kNowhere = "/nonexistent";

void check_problems(const LoadResult& result) {
  require(result.config.has_value() == result.problems.empty(),
          "there is a configuration or there are problems");
  for (const config::Problem& problem : result.problems) {
    const bool syntax = problem.path.starts_with(kFile);
    require(problem.path.starts_with('$') || syntax, "a problem has its path", problem.path);
    require(!problem.message.empty(), "a problem has its sentence", problem.path);
    for (const char c : problem.path + problem.message) {
      require(c >= ' ' && c <= '~', "a problem can be printed", problem.path + problem.message);
    }
  }
}

}  // namespace

void configuration(std::string_view input) {
  const LoadResult first = config::load_text(input, kFile, kNowhere);
  check_problems(first);
  if (!first.config) return;

  const std::string dump = config::effective(*first.config).dump();
  if (dump.find(config::kRedacted) != dump.npos) return;  // no working secret
  const LoadResult second = config::load_text(dump, kFile, kNowhere);
  check_problems(second);
  require(second.config.has_value(), "what is in force loads again",
          second.problems.empty() ? "" : second.problems.front().path + dump);
  require(config::effective(*second.config).dump() == dump, "and is the same", dump);

  // What has been checked can be put in force.
  try {
    const traffic::Classifier classifier(*first.config);
    static_cast<void>(classifier.route_of(http::Verb::get, "GET", "h", "/a/b"));
  } catch (const std::invalid_argument& error) {
    broken(std::string("routes that were checked are refused: ") + error.what() + dump);
  }
}

}  // namespace spillway::fuzz
