#include "bench/overload/result.hpp"

#include <fmt/format.h>

#include <utility>

#include "simulate/run/fairness.hpp"

namespace spillway::bench {

Result::Result(Cell played)
    : cell(std::move(played)), tally(cell.phases.size(), counted_from(cell), counted_until(cell)) {}

double measured_seconds(const Result& result) {
  return to_seconds(counted_until(result.cell) - counted_from(result.cell));
}

Counts Result::all() const {
  Counts sum;
  for (std::size_t kind = 0; kind < load::kKindCount; ++kind) sum.add(tally.kind(kind));
  return sum;
}

double goodput_ratio(const Result& result, const Counts& counts) {
  const double rate = static_cast<double>(counts.answered) / measured_seconds(result);
  return rate / capacity_rps(*result.cell.scenario);
}

std::optional<double> jain(const Result& result) {
  if (result.tally.tenants().empty()) return std::nullopt;
  std::vector<double> demand, got;
  for (const auto& [tenant, counts] : result.tally.tenants()) {
    demand.push_back(static_cast<double>(counts.sent));
    got.push_back(static_cast<double>(counts.succeeded));
  }
  return simulate::max_min_fairness(demand, got);
}

std::string invalid(const Result& result, bool late_is_fine) {
  if (!late_is_fine && result.tally.late_p99() > kTooLate) {
    return fmt::format("the load was sent late: p99 {:.1f} ms",
                       to_milliseconds(result.tally.late_p99()));
  }
  if (!late_is_fine && result.backend_late_p99 > kTooLate) {
    return fmt::format("the backend's clock was late: p99 {:.1f} ms",
                       to_milliseconds(result.backend_late_p99));
  }
  const Counts all = result.all();
  if (all.succeeded == 0 && all.denied + all.evicted + all.timed_out + all.gave_up == 0) {
    std::string text = "nothing was answered";
    for (const auto& [cause, times] : result.tally.causes()) {
      text += fmt::format(", {} x {}", times, cause);
    }
    return text;
  }
  return {};
}

}  // namespace spillway::bench
