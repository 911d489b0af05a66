// spillway-bench-jobs: how many jobs a second queues take and give, beside one another. Prints the
// figures, and appends them to a file as lines. Exit status 0; 1 if a figure failed; 2 on bad
// usage. run.sh builds and calls it.
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>

#include "bench/jobs/contender.hpp"
#include "bench/jobs/play.hpp"
#include "bench/load/descriptors.hpp"

namespace {

using namespace spillway::job_bench;

volatile std::sig_atomic_t interrupted = 0;

struct Options {
  Plan plan;
  bool quick = false;
  int seconds = 0, window = 0;
  std::string directory = "/var/tmp", out;
};

// All data goes below it. Nothing is durable in memory.
void use_directory(const std::string& directory) {
  struct statfs its {};
  if (statfs(directory.c_str(), &its) != 0) throw std::runtime_error("there is no " + directory);
  if (its.f_type == TMPFS_MAGIC || its.f_type == RAMFS_MAGIC) {
    throw std::runtime_error(directory + " is in memory: give a --directory on a disk");
  }
  setenv("TMPDIR", directory.c_str(), 1);
}

Plan completed(const Options& options) {
  Plan plan = options.plan;
  if (plan.suites.empty()) plan.suites = kSuites;
  if (plan.contenders.empty()) plan.contenders = contender_names();
  if (plan.outstanding.empty()) plan.outstanding = {1, 16, 64, 256};
  if (plan.rounds == 0) plan.rounds = options.quick ? 1 : 3;
  if (plan.most_pending == 0) plan.most_pending = options.quick ? 100'000 : 1'000'000;
  const int seconds = options.seconds > 0 ? options.seconds : options.quick ? 1 : 4;
  const int window = options.window > 0 ? options.window : options.quick ? 2 : 10;
  plan.time = std::chrono::seconds(seconds);
  plan.window = std::chrono::seconds(window);
  return plan;
}

int run(const Options& options) {
  use_directory(options.directory);
  spillway::load::raise_descriptor_limit();
  std::ofstream out;
  if (!options.out.empty()) out.open(options.out, std::ios::app);
  bool is_good = true;
  play(
      completed(options),
      [&](const Cell& cell, const Outcome& outcome) {
        is_good = is_good && outcome.failure.empty();
        std::cout << "round " << cell.round << "  " << result_text(cell, outcome) << std::flush;
        if (out.is_open() && !(out << result_line(cell, outcome)).flush()) {
          throw std::runtime_error("cannot write " + options.out);
        }
      },
      [] { return interrupted != 0; });
  return is_good && interrupted == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  Plan& plan = options.plan;
  plan.rounds = 0;
  plan.most_pending = 0;
  CLI::App app("Job queues side by side", "spillway-bench-jobs");
  app.add_flag("--quick", options.quick, "a first look: one round, short figures, fewer pending");
  app.add_option("--suite", plan.suites)->check(CLI::IsMember(kSuites));
  app.add_option("--contender", plan.contenders)->check(CLI::IsMember(contender_names()));
  app.add_option("--outstanding", plan.outstanding, "of accept; default: 1 16 64 256")
      ->check(CLI::Range(1, 256));
  app.add_option("--rounds", plan.rounds)->check(CLI::Range(1, 100));
  app.add_option("--seconds", options.seconds, "of a figure")->check(CLI::Range(1, 600));
  app.add_option("--window", options.window, "seconds of each of four figures of loop")
      ->check(CLI::Range(1, 600));
  app.add_option("--most-pending", plan.most_pending, "of depth")
      ->check(CLI::Range(10, 10'000'000));
  app.add_option("--lanes", plan.lanes, "of depth, beside a few; 0: none")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--directory", options.directory, "where all data goes; on a disk")
      ->capture_default_str();
  app.add_option("--out", options.out, "file to append the results to, one JSON object a line");
  app.add_option("--spillway", plan.programs.spillway)->capture_default_str();
  app.add_option("--load", plan.programs.load, "wrk's script")->capture_default_str();
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
    std::cerr << "spillway-bench-jobs: " << error.what() << '\n';
    return 2;
  }
}
