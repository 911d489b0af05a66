// Plays one contender in one cell, in the simulator.
#pragma once

#include <cstdint>

#include "bench/grid/cell.hpp"
#include "bench/grid/contender.hpp"
#include "simulate/recording/recording.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::grid {

// What a backend can do for these clients at best, without any queue.
struct Alone {
  double p95 = 0;       // seconds
  double p99 = 0;       // of those answered before the timeout
  double answered = 1;  // part of the requests, before the timeout
  double useful = 1;    // part of the work that is for those
};
Alone alone(const Cell& cell);

// The modelled backend, its changes and clients; its configuration is not set.
simulate::Scenario scenario(const Cell& cell, std::uint64_t seed, const Times& times);

// The most that P0 alone asks for at any time after the warm-up, of the capacity at that time.
double share_of_first_class(const Cell& cell);

struct Run {
  Cell cell;
  std::uint64_t seed = 1;
  Times times;
  Alone alone;
  simulate::Recording recording;
};
Run play(const Cell& cell, const Contender& contender, std::uint64_t seed, const Times& times);

}  // namespace spillway::grid
