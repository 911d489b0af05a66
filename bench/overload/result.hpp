// What a cell came to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/overload/cell_tally.hpp"
#include "bench/overload/plan.hpp"
#include "bench/overload/recovery.hpp"
#include "bench/overload/work_tally.hpp"

namespace spillway::bench {

struct Result {
  explicit Result(Cell played);

  Cell cell;
  std::string failure;  // why its figures are none; empty: they are
  CellTally tally;
  double wasted_ratio = 0;
  double stretch = 1;  // see WorkTally
  Duration mean_service{};
  Duration backend_late_p99{};
  std::optional<Recovery> recovery{};          // of a disturbed one
  std::optional<std::uint64_t> transitions{};  // between overload states, of Spillway

  Counts all() const;
};

double measured_seconds(const Result& result);

// What was answered in time while it counted / what the backend could have done. (Not by when it
// was due: a queue that gets shorter meanwhile would look like idle slots.)
double goodput_ratio(const Result& result, const Counts& counts);

// Jain's index over the tenants: see max_min_fairness. nullopt without tenants.
std::optional<double> jain(const Result& result);

// A generator that sends this much too late at p99, or a backend that works this much too long,
// says nothing of the contender any more.
inline constexpr Milliseconds kTooLate{5};

// Why the figures are none: the load was late, nothing succeeded. Empty: they are.
std::string invalid(const Result& result, bool late_is_fine = false);

}  // namespace spillway::bench
