// The table against the proxy, NGINX beside it, and against two that must fail.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "system/caching/cases.hpp"
#include "system/caching/subjects.hpp"

namespace spillway::caching {
namespace {

// So many hold for any cache that is none too odd: fewer, and it is the table that is wrong.
constexpr std::size_t kLeastForNginx = 120;

TEST_CASE("every rule of HTTP caching holds for the proxy with NGINX beside it") {
  const std::vector<Case> cases = all_cases();
  Origin origin;
  const CachingNginx nginx(origin);
  const CachingProxy proxy(origin);
  const std::vector<Subject> subjects{proxy.caching(), nginx.caching()};
  const std::vector<Column> columns = play(cases, subjects, origin);
  const std::string table = printed(cases, subjects, columns);
  MESSAGE(table);
  std::ofstream(SPILLWAY_BINARY_DIR "/caching-table.md") << table;

  for (std::size_t n = 0; n < cases.size(); ++n) {
    const std::string& trouble = columns[0][n];
    if (cases[n].otherwise.empty()) {
      CHECK_MESSAGE(trouble.empty(), cases[n].sentence, ": ", trouble);
    } else {
      CHECK_MESSAGE(!trouble.empty(), cases[n].sentence, ": it does hold");
      CHECK_MESSAGE(cases[n].level != Level::must, cases[n].sentence);
    }
  }
  CHECK(support::count(columns[1]).passed >= kLeastForNginx);
}

// A case that wants something from the store must fail without one.
TEST_CASE("each case fails where nothing is stored or everything") {
  const std::vector<Case> cases = all_cases();
  Origin origin;
  const CachingNginx nginx(origin);
  const CachingProxy proxy(origin);
  const std::vector<Column> columns =
      play(cases, {proxy.storing_nothing(), nginx.storing_everything()}, origin,
           support::Milliseconds{0});
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const bool wants_store = std::ranges::any_of(cases[n].client, &Step::wants_store);
    const bool fails = !columns[0][n].empty() || (!wants_store && !columns[1][n].empty());
    CHECK_MESSAGE(fails, cases[n].sentence);
  }
}

TEST_CASE("no two cases of the table say the same") {
  std::set<std::string> sentences;
  for (const Case& each : all_cases()) {
    CHECK_MESSAGE(sentences.insert(each.sentence).second, each.sentence);
    CHECK_MESSAGE(each.sentence.find('|') == std::string::npos, each.sentence);
  }
  CHECK(sentences.size() >= 80);
}

}  // namespace
}  // namespace spillway::caching
