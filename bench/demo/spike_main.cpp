// spillway-demo-spike: calm, spike, recovery, the same for each --run in turn. Exit status 0 only
// if in the last run P0 kept 99 % success while P2 was shed; 1 if not; 2 on bad usage.
#include <unistd.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/load/arrivals.hpp"
#include "bench/load/client.hpp"
#include "bench/load/descriptors.hpp"
#include "contender.hpp"
#include "scene.hpp"
#include "summary.hpp"
#include "verdict.hpp"

namespace {

namespace demo = spillway::demo;
namespace load = spillway::load;

constexpr std::size_t kSpikePhase = 1;
constexpr double kMostArrivals = 2e6;
constexpr double kLongestRun = 600;  // seconds

struct Options {
  std::vector<std::string> runs;
  double capacity = 800;
  double calm = 0.5;
  double spike = 5;
  double calm_s = 2;
  double spike_s = 5;
  double recovery_s = 4;
  load::Reads reads;
  std::uint64_t seed = 1;
};

bool read_contenders(const Options& options, std::vector<demo::Contender>& contenders) {
  for (const std::string& text : options.runs) {
    auto contender = demo::parse_contender(text);
    if (!contender) {
      std::cerr << "spillway-demo-spike: --run needs TITLE=http://127.0.0.1:PORT, not '" << text
                << "': the spike only ever runs against this machine\n";
      return false;
    }
    contenders.push_back(std::move(*contender));
  }
  return true;
}

std::vector<load::Phase> phases_of(const Options& options) {
  using spillway::from_seconds;
  return {{"calm", from_seconds(options.calm_s), options.calm * options.capacity},
          {"spike", from_seconds(options.spike_s), options.spike * options.capacity},
          {"recovery", from_seconds(options.recovery_s), options.calm * options.capacity}};
}

bool within_bounds(const std::vector<load::Phase>& phases, double spike_rate) {
  if (load::expected_arrivals(phases) > kMostArrivals ||
      spillway::to_seconds(load::total_length(phases)) > kLongestRun) {
    std::cerr << "spillway-demo-spike: at most 2 million requests and 600 seconds\n";
    return false;
  }
  const double connections = 1.2 * spike_rate * spillway::to_seconds(load::kPatience) + 100;
  if (static_cast<double>(load::raise_descriptor_limit()) < connections) {
    std::cerr << "spillway-demo-spike: needs " << static_cast<long>(connections)
              << " file descriptors; raise the limit (ulimit -n) or lower --spike\n";
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Open-loop load: calm, a spike, recovery", "spillway-demo-spike");
  app.option_defaults()->take_last();  // a script's own options can be overridden
  app.add_option("--run", options.runs,
                 "TITLE=URL[,ADMIN]: the proxy that gets the load, each in turn; ADMIN is the "
                 "proxy's admin "
                 "listener, for the live table. The last one is judged")
      ->required()
      ->take_all();
  app.add_option("--capacity", options.capacity, "what the backend can do, requests per second")
      ->check(CLI::Range(1.0, 1e5))
      ->capture_default_str();
  app.add_option("--calm", options.calm, "load before and after, as a multiple of the capacity")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--spike", options.spike, "load of the spike, as a multiple of the capacity")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--calm-s", options.calm_s)->check(CLI::Range(0.0, 600.0))->capture_default_str();
  app.add_option("--spike-s", options.spike_s)
      ->check(CLI::Range(0.0, 600.0))
      ->capture_default_str();
  app.add_option("--recovery-s", options.recovery_s)
      ->check(CLI::Range(0.0, 600.0))
      ->capture_default_str();
  app.add_option("--cacheable", options.reads.cacheable,
                 "share of the reads that ask for a page, which a cache may store")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--pages", options.reads.pages, "distinct pages of each kind of read")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the arrival times")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  std::vector<demo::Contender> contenders;
  if (!read_contenders(options, contenders)) return 2;
  const auto phases = phases_of(options);
  if (!within_bounds(phases, options.spike * options.capacity)) return 2;

  const auto arrivals = load::schedule(phases, options.seed, options.reads);
  const demo::Paint paint{isatty(STDOUT_FILENO) == 1};
  std::vector<demo::Run> runs;
  for (const demo::Contender& contender : contenders) {
    runs.push_back(
        {contender.title, demo::play({contender.target, contender.admin, phases, arrivals},
                                     contender.title, paint)});
  }

  std::cout << '\n' << demo::summary(runs, phases, paint) << std::endl;
  const demo::Tally& tally = runs.back().tally;
  const bool kept = demo::kept_its_promise(tally, kSpikePhase);
  std::cout << (kept ? paint.good("kept") : paint.bad("NOT kept")) << ": P0 success "
            << 100 * tally.phase(kSpikePhase).front().ok_share()
            << " % during the spike (promised: 99 % or more), P2 denied "
            << tally.phase(kSpikePhase).back().denied << " times, deferred "
            << tally.phase(kSpikePhase).back().deferred << " times" << std::endl;
  return kept ? 0 : 1;
}
