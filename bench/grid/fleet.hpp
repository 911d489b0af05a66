// Several proxies before one backend, which do not know of each other; or one proxy before several
// servers of different speed. The simulator has one proxy; this is a loop of its own over the same
// models. Failures other than a refused connection are not modelled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "bench/grid/cell.hpp"
#include "bench/grid/contender.hpp"
#include "simulate/recording/recording.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::grid {

// When a proxy takes part in the load.
struct Presence {
  double from = 0;
  double until = 1e9;  // seconds; then it gets no new requests
};

struct Fleet {
  std::string name;
  Cell cell;  // its shape counts not
  std::vector<Presence> proxies;
  std::vector<simulate::Server> servers;  // none: one server
  bool loses_server = false;              // the last one, for a third of the measured time
  bool in_phase = false;                  // all proxies tick at the same moments
  Duration clocks_apart{0};               // each wall clock is ahead of the one before by this
};
std::vector<Fleet> fleets(bool quick);

// What is seen once a second.
struct FleetSecond {
  simulate::WorkDone work;               // since the beginning
  std::vector<std::uint32_t> limits;     // by proxy; 0: not there
  std::vector<std::uint32_t> in_flight;  // by server, of the proxies: requests sent, not answered
  std::vector<std::uint32_t> most;       // of these at any moment, and such as clients have left
};
struct FleetRun {
  std::vector<FleetSecond> seconds;
  std::vector<std::uint64_t> offered, served;  // by proxy, after the warm-up
  std::vector<std::uint64_t> class_offered, class_served;
  std::vector<double> latencies;  // seconds, of P0
  std::uint32_t transitions = 0;  // of all proxies, after the warm-up
};
// A true number is split evenly between the proxies that are there from the beginning.
FleetRun play(const Fleet& fleet, const Contender& contender, std::uint64_t seed,
              const Times& times);

// The result line of a run, with a line break.
std::string fleet_line(const Fleet& fleet, const Contender& contender, std::uint64_t seed,
                       const Times& times);

}  // namespace spillway::grid
