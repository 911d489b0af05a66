// spillway-bench-overload: plays the cells of a plan and prints their results as tables, and as
// lines to a file. Exit status 0; 1 if a cell failed; 2 on bad usage. run.sh builds and calls it.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

#include "bench/load/descriptors.hpp"
#include "bench/overload/calibration.hpp"
#include "bench/overload/pinning.hpp"
#include "bench/overload/play.hpp"
#include "bench/overload/result_line.hpp"
#include "bench/overload/result_table.hpp"

namespace {

namespace bench = spillway::bench;
namespace fs = std::filesystem;

volatile std::sig_atomic_t interrupted = 0;

bool stopped() { return interrupted != 0; }

struct Options {
  bench::PlanOptions plan;
  bench::ProgramPaths programs{
      .spillway = "build/bench/spillway", .nginx = "nginx", .haproxy = "haproxy"};
  std::string configurations = "bench/peers";
  std::string out;
  bool list = false;
  bool late_is_fine = false;
};

// Removed with all that is in it; others may read it, as NGINX's workers must.
class WorkFolder {
 public:
  WorkFolder() : path_((fs::temp_directory_path() / "spillway-overload-XXXXXX").string()) {
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

// Each request of the last second may hold a connection of a client and one to the backend.
void check_descriptors(const std::vector<bench::Cell>& cells) {
  const auto available = static_cast<double>(spillway::load::raise_descriptor_limit());
  double needed = 0;
  for (const bench::Cell& cell : cells) {
    const double attempts = cell.load * (1 + cell.scenario->retries.most);
    needed = std::max(needed, 2.2 * attempts * bench::capacity_rps(*cell.scenario) + 500);
  }
  if (available < needed) {
    throw std::runtime_error(
        fmt::format("needs {:.0f} file descriptors, may have {:.0f}; raise the limit (ulimit -n) "
                    "or choose a lower "
                    "--load",
                    needed, available));
  }
}

std::string clock_time(double seconds) {
  const int whole = static_cast<int>(seconds);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

void list() {
  for (const bench::Scenario& scenario : bench::scenarios()) {
    std::cout << fmt::format("{:<16} {}{}\n{:<16} loads:", scenario.name, scenario.sentence,
                             scenario.usual ? "" : " (by name only)", "");
    for (const double load : scenario.loads) std::cout << fmt::format(" {:g}", load);
    std::cout << "; contenders:";
    for (const auto name : scenario.contenders) std::cout << ' ' << name;
    std::cout << "; once:";
    for (const auto name : scenario.others) std::cout << ' ' << name;
    std::cout << '\n';
  }
}

bool calibrate(const Options& options, const bench::Stage& stage) {
  const auto cell = bench::calibration_cell(options.plan.quick, options.plan.seed);
  const auto calibration = bench::judge(bench::play(cell, stage));
  std::cerr << calibration.text << (calibration.good ? "" : " - NOT good: see figures with caution")
            << std::endl;
  return calibration.good;
}

bool play_all(const std::vector<bench::Cell>& cells, const Options& options,
              const bench::Stage& stage) {
  double left = 0;
  for (const bench::Cell& cell : cells) left += bench::expected_seconds(cell);
  std::cerr << fmt::format("{} cells, about {} (h:min:s)\n", cells.size(), clock_time(left));
  bool good = calibrate(options, stage);

  std::ofstream out;
  if (!options.out.empty()) out.open(options.out, std::ios::app);
  std::vector<bench::Result> results;
  for (std::size_t i = 0; i < cells.size() && !stopped(); ++i) {
    const bench::Cell& cell = cells[i];
    std::cerr << fmt::format("cell {} of {}, {} left: {} {:g} x {}", i + 1, cells.size(),
                             clock_time(left), cell.scenario->name, cell.load, cell.contender->name)
              << std::endl;
    left -= bench::expected_seconds(cell);
    results.push_back(bench::play(cell, stage));
    const bench::Result& result = results.back();
    if (!result.failure.empty()) {
      std::cerr << "  FAILED: " << result.failure << std::endl;
      good = false;
    }
    if (out.is_open() && !(out << bench::result_lines(result)).flush()) {
      throw std::runtime_error("cannot write " + options.out);
    }
  }
  std::cout << bench::result_tables(results) << std::flush;
  return good && !stopped();
}

int run(const Options& options) {
  if (options.list) {
    list();
    return 0;
  }
  const auto cells = bench::plan(options.plan);
  check_descriptors(cells);
  const bool pinned = !options.late_is_fine && bench::pin_to(bench::kLoadCore);
  if (!pinned) std::cerr << "proxy, backend and load share what cores there are\n";
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
  CLI::App app("Proxies side by side under overload", "spillway-bench-overload");
  app.add_flag("--quick", options.plan.quick, "a first look: fewer and shorter cells");
  app.add_option("--scenario", options.plan.scenarios, "which; default: the usual ones");
  app.add_option("--load", options.plan.loads, "offered / capacity")->check(CLI::Range(0.1, 20.0));
  app.add_option("--contender", options.plan.contenders,
                 "contenders to run; default: those of each scenario");
  app.add_option("--repetitions", options.plan.repetitions)->check(CLI::Range(1, 100));
  app.add_option("--seconds", options.plan.seconds, "measured in each cell; default: what it needs")
      ->check(CLI::Range(0.5, 3000.0));
  app.add_option("--seed", options.plan.seed, "of arrivals and service times")
      ->capture_default_str();
  app.add_option("--out", options.out, "file to append the results to, one JSON object a line");
  app.add_option("--spillway", options.programs.spillway)->capture_default_str();
  app.add_option("--nginx", options.programs.nginx)->capture_default_str();
  app.add_option("--haproxy", options.programs.haproxy)->capture_default_str();
  app.add_option("--configurations", options.configurations)->capture_default_str();
  app.add_flag("--late-is-fine", options.late_is_fine,
               "on a busy machine: pin nothing, show figures although the load was late");
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
    std::cerr << "spillway-bench-overload: " << error.what() << '\n';
    return 2;
  }
}
