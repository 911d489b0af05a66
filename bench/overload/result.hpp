// What a cell came to.
#pragma once

#include <optional>
#include <string>

#include "bench/overload/cell_tally.hpp"
#include "bench/overload/plan.hpp"
#include "bench/overload/recovery.hpp"
#include "bench/overload/work_tally.hpp"

namespace spillway::bench {

struct Result {
  Cell cell;
  std::string failure{};  // why its figures are none; empty: they are
  CellTally tally{cell.phases.size()};
  double measured_seconds = 0;
  double wasted_ratio = 0;
  double stretch = 1;  // see WorkTally
  Duration mean_service{};
  Duration backend_late_p99{};
  std::optional<Recovery> recovery{};  // of a disturbed one

  Counts all() const;
};

// From the arrivals that a cell is due to send after its first phase, and what became of them.
double goodput_ratio(const Result& result, const Counts& counts);

// Jain's index over the tenants: see max_min_fairness. nullopt without tenants.
std::optional<double> jain(const Result& result);

// A generator that sends this much too late at p99, or a backend that works this much too long,
// says nothing of the contender any more.
inline constexpr Milliseconds kTooLate{5};

// Why the figures are none: the load was late, nothing succeeded. Empty: they are.
std::string invalid(const Result& result, bool late_is_fine = false);

}  // namespace spillway::bench
