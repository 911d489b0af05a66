// spillway-bench-hostile: plays the cells of a plan and prints a line for each, and result lines to
// a file. Exit status 0; 1 if a cell failed; 2 on bad usage. run.sh builds and calls it.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/hostile/behaviour.hpp"
#include "bench/hostile/play.hpp"
#include "bench/hostile/slowhttptest.hpp"
#include "bench/load/descriptors.hpp"
#include "bench/overload/pinning.hpp"

namespace {

namespace hostile = spillway::hostile;
namespace fs = std::filesystem;

constexpr std::uint64_t kDescriptors = 6000;  // attack, probes and backend, with a margin

volatile std::sig_atomic_t interrupted = 0;

bool stopped() { return interrupted != 0; }

struct Options {
  hostile::PlanOptions plan;
  spillway::bench::ProgramPaths programs{
      .spillway = "build/bench/spillway", .nginx = "nginx", .haproxy = "haproxy"};
  std::string configurations = "bench/peers";
  std::string out;
  int attempts = 3;
  bool list = false;
  bool late_is_fine = false;
  bool unpinned = false;
};

// Removed with all that is in it; others may read it, as NGINX's workers must.
class WorkFolder {
 public:
  WorkFolder() : path_((fs::temp_directory_path() / "spillway-hostile-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr || chmod(path_.c_str(), 0755) != 0) {
      throw std::system_error(errno, std::generic_category(), path_);
    }
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void list() {
  for (const hostile::Manner& manner : hostile::manners()) {
    std::cout << fmt::format("{:<15} {}\n", manner.name, manner.sentence);
  }
  for (const hostile::SlowMode& mode : hostile::slow_modes()) {
    std::cout << fmt::format("{:<15} {}\n", mode.name, mode.sentence);
  }
  std::cout << fmt::format("{:<15} no attack\ncontenders:", hostile::kNoAttack);
  for (const auto name : hostile::contender_names()) std::cout << ' ' << name;
  std::cout << '\n';
}

bool play_all(const std::vector<hostile::Cell>& cells, const Options& options,
              const hostile::Stage& stage) {
  double left = 0;
  for (const hostile::Cell& cell : cells) left += hostile::expected_seconds(cell);
  std::cerr << fmt::format("{} cells, about {:.0f} minutes\n", cells.size(), left / 60);
  std::ofstream out;
  if (!options.out.empty()) out.open(options.out, std::ios::app);
  bool good = true;
  for (const hostile::Cell& cell : cells) {
    if (stopped()) return false;
    hostile::Result result = hostile::play(cell, stage);
    for (int attempt = 1; attempt < options.attempts && late(result) && !stopped(); ++attempt) {
      result = hostile::play(cell, stage);
    }
    std::cout << hostile::result_text(result) << std::flush;
    good = good && result.failure.empty();
    if (out.is_open() && !(out << hostile::result_line(result)).flush()) {
      throw std::runtime_error("cannot write " + options.out);
    }
  }
  return good && !stopped();
}

int run(const Options& options) {
  if (options.list) {
    list();
    return 0;
  }
  const auto cells = hostile::plan(options.plan);
  if (spillway::load::raise_descriptor_limit() < kDescriptors) {
    throw std::runtime_error(fmt::format("needs {} file descriptors (ulimit -n)", kDescriptors));
  }
  const bool pinned = !options.unpinned && spillway::bench::pin_to(spillway::bench::kLoadCore);
  if (!pinned) std::cerr << "proxy, backend and clients share what cores there are\n";
  const WorkFolder work;
  return play_all(cells, options,
                  {.programs = options.programs,
                   .configurations = options.configurations,
                   .work = work.path(),
                   .pinned = pinned,
                   .late_is_fine = options.late_is_fine,
                   .stopped = stopped})
             ? 0
             : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Proxies side by side under attack by slow and greedy clients",
               "spillway-bench-hostile");
  app.add_flag("--quick", options.plan.quick, "a first look: shorter cells, many addresses only");
  app.add_option("--behaviour", options.plan.behaviours, "which; default: all and none");
  app.add_option("--contender", options.plan.contenders, "which; default: all");
  app.add_option("--addresses", options.plan.addresses, "that the attack comes from")
      ->check(CLI::Range(1, 250));
  app.add_option("--rounds", options.plan.rounds)->check(CLI::Range(1, 100));
  app.add_option("--seconds", options.plan.seconds, "counted in each cell")
      ->check(CLI::Range(0.5, 3000.0));
  app.add_option("--seed", options.plan.seed, "of arrivals and service times")
      ->capture_default_str();
  app.add_option("--out", options.out, "file to append the results to, one JSON object a line");
  app.add_option("--spillway", options.programs.spillway)->capture_default_str();
  app.add_option("--nginx", options.programs.nginx)->capture_default_str();
  app.add_option("--haproxy", options.programs.haproxy)->capture_default_str();
  app.add_option("--configurations", options.configurations)->capture_default_str();
  app.add_option("--attempts", options.attempts, "at a cell whose load was late")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_flag("--unpinned", options.unpinned, "on a busy machine: no cores of their own");
  app.add_flag("--late-is-fine", options.late_is_fine, "figures although the load was late");
  app.add_flag("--list", options.list, "say what there is and end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << "spillway-bench-hostile: " << error.what() << '\n';
    return 2;
  }
}
