// Which cells are played in which order, and how long that takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/overload/contender.hpp"
#include "bench/overload/scenario.hpp"

namespace spillway::bench {

struct Cell {
  const Scenario* scenario = nullptr;
  const Contender* contender = nullptr;
  double load = 1;
  int repetition = 1;  // the same for all contenders: same arrivals, same service times
  std::vector<load::Phase> phases;  // neither the first nor the last counts
  std::uint64_t seed = 1;
};

// When what counts begins and ends, since the start.
Duration counted_from(const Cell& cell);
Duration counted_until(const Cell& cell);

struct PlanOptions {
  bool quick = false;
  std::vector<std::string> scenarios;   // empty: the usual ones
  std::vector<double> loads;            // empty: those of each scenario
  std::vector<std::string> contenders;  // empty: those of each scenario
  int repetitions = 0;                  // 0: three, quick: one
  double seconds = 0;                   // measured in each cell; 0: what the record needs
  std::uint64_t seed = 1;
};

// Repetition by repetition and load by load the contenders one after the other, so that a machine
// that gets slower does so for all; those that are not compared are played once, in a quick plan at
// the first load only. Throws std::runtime_error, naming what there is, for an
// unknown scenario or contender.
std::vector<Cell> plan(const PlanOptions& options);

// Seconds that a cell takes, with start and end of its contender, about.
double expected_seconds(const Cell& cell);

// What a cell of the record holds at least, without a disturbance; of purchases (P0) where they are
// judged, which they are above capacity.
inline constexpr double kCompletions = 40000;
inline constexpr double kPurchases = 10000;
// But above capacity a contender that does not protect the backend answers nothing in time, however
// long the cell, and its clients pile up until they cannot send in time: seconds are enough.
inline constexpr double kUnprotectedSeconds = 20;

}  // namespace spillway::bench
