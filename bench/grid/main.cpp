// spillway-bench-grid: plays contenders in the cells of the grid and writes a result line for each
// run. Exit status 0; 2 on bad usage.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/grid/figures.hpp"
#include "bench/grid/fleet.hpp"

namespace {

namespace grid = spillway::grid;

constexpr grid::Times kTimes;  // of every run

struct Options {
  bool quick = false;
  bool list = false;
  bool course = false;
  std::vector<std::string> contenders;
  std::string cell;         // a part of its name
  std::uint64_t seeds = 0;  // 0: 1 of a quick run, else 5
  unsigned threads = 2;
  std::string out;
};

struct Job {
  grid::Cell cell;
  const grid::Contender* contender;
  std::uint64_t seed;
};

bool takes_part(const Options& options, const grid::Contender& one, const grid::Cell& cell) {
  using enum grid::Contender::Part;
  if (one.part == steady && (cell.shape != grid::Shape::steady || cell.load < 2)) return false;
  if (one.part == told && cell.timeout >= spillway::Milliseconds{1000}) return false;
  if (options.contenders.empty()) return one.part != full || !options.quick;
  return std::find(options.contenders.begin(), options.contenders.end(), one.name) !=
         options.contenders.end();
}

std::vector<Job> jobs_of(const Options& options) {
  const auto cells = options.quick ? grid::sample(6, 1e6, kTimes) : grid::sample(16, 6e6, kTimes);
  const std::uint64_t seeds = options.seeds > 0 ? options.seeds : (options.quick ? 1 : 5);
  std::vector<Job> jobs;
  for (const grid::Cell& cell : cells) {
    if (name(cell).find(options.cell) == std::string::npos) continue;
    for (const grid::Contender& one : grid::contenders()) {
      if (!takes_part(options, one, cell)) continue;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) jobs.push_back({cell, &one, seed});
    }
  }
  return jobs;
}

// Each makes a result line.
using Task = std::function<std::string()>;

void add_fleets(const Options& options, std::vector<Task>& tasks) {
  for (const grid::Fleet& fleet : grid::fleets(options.quick)) {
    if (("fleet-" + fleet.name).find(options.cell) == std::string::npos) continue;
    for (std::uint64_t seed = 1; seed <= (options.quick ? 1 : 3); ++seed) {
      for (const char* one : {"auto", "true", "gradient2", "aimd"}) {
        const grid::Contender& contender = grid::contender(one);
        tasks.push_back([=, &contender] { return fleet_line(fleet, contender, seed, kTimes); });
      }
    }
  }
}

std::vector<Task> tasks_of(const std::vector<Job>& jobs, const Options& options) {
  std::vector<Task> tasks;
  for (const Job& job : jobs) {
    tasks.push_back([=] {
      return result_line(play(job.cell, *job.contender, job.seed, kTimes), *job.contender);
    });
  }
  if (options.contenders.empty()) add_fleets(options, tasks);
  return tasks;
}

// The lines in the order of the tasks.
std::vector<std::string> play_all(const std::vector<Task>& tasks, const Options& options) {
  std::vector<std::string> lines(tasks.size());
  std::atomic<std::size_t> next{0};
  std::mutex progress;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      lines[i] = tasks[i]();
      if (i % 50 != 49) continue;
      const std::lock_guard lock(progress);
      std::cerr << "run " << i + 1 << " of " << tasks.size() << std::endl;
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < options.threads; ++i) threads.emplace_back(work);
  threads.clear();
  return lines;
}

void list(const std::vector<Job>& jobs) {
  const grid::Cell* last = nullptr;
  for (const Job& job : jobs) {
    if (last != nullptr && *last == job.cell) continue;
    last = &job.cell;
    std::cout << name(job.cell) << (is_held_out(job.cell) ? "  held out" : "") << '\n';
  }
}

// A run second by second: requests of all classes, slots busy with work of use and of none.
void print_course(const grid::Run& run, const std::string& contender) {
  std::cout << fmt::format("{} {}\n{:>4} {:>10} {:>5} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}\n",
                           name(run.cell), contender, "s", "state", "limit", "offered", "P0 ok",
                           "P1 ok", "P2 ok", "useful", "wasted");
  spillway::simulate::WorkDone before;
  for (std::size_t s = 0; s < run.recording.seconds.size(); ++s) {
    const auto& second = run.recording.seconds[s];
    std::uint64_t offered = 0;
    for (const auto& one : second.classes) offered += one.offered;
    std::cout << fmt::format("{:>4} {:>10} {:>5} {:>7} {:>7} {:>7} {:>7} {:>7.2f} {:>7.2f} {}\n",
                             s + 1, spillway::name(second.state), second.limit, offered,
                             second.classes[0].served, second.classes[1].served,
                             second.classes[2].served, second.work.useful - before.useful,
                             second.work.wasted - before.wasted, spillway::name(second.reason));
    before = second.work;
  }
}

void run(const Options& options) {
  const std::vector<Job> jobs = jobs_of(options);
  if (options.list) return list(jobs);
  if (options.course) {
    for (const Job& job : jobs)
      print_course(play(job.cell, *job.contender, job.seed, kTimes), job.contender->name);
    return;
  }
  std::ofstream file;
  if (!options.out.empty()) file.open(options.out, std::ios::app);
  std::ostream& out = options.out.empty() ? std::cout : file;
  for (const std::string& line : play_all(tasks_of(jobs, options), options)) out << line;
  if (!out.flush()) throw std::runtime_error("cannot write " + options.out);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Laws of overload control over a grid of backends and loads", "spillway-bench-grid");
  app.add_flag("--quick", options.quick, "a first look: fewer cells and contenders, one seed");
  app.add_flag("--list", options.list, "name the cells and end");
  app.add_flag("--course", options.course, "print the runs second by second instead");
  app.add_option("--contender", options.contenders, "which; default: all");
  app.add_option("--cell", options.cell, "only cells with this in their name");
  app.add_option("--seeds", options.seeds, "of each cell")->check(CLI::Range(1, 100));
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 64))->capture_default_str();
  app.add_option("--out", options.out, "file to append the lines to; default: standard output");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    run(options);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "spillway-bench-grid: " << error.what() << '\n';
    return 2;
  }
}
