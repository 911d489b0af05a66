#include "bench/overload/calibration.hpp"

#include <fmt/format.h>

namespace spillway::bench {
namespace {
constexpr double kSuccess = 0.999;
constexpr double kStretch = 1.02;
}  // namespace

Cell calibration_cell(bool quick, std::uint64_t seed) {
  const Scenario* scenario = find_scenario("capacity-known");
  const double rate = kCalibrationLoad * capacity_rps(*scenario);
  return {.scenario = scenario,
          .contender = find_contender("direct"),
          .load = kCalibrationLoad,
          .phases = {{"warm-up", from_seconds(0.5), rate},
                     {"measured", from_seconds(quick ? 2.5 : 15), rate},
                     {"run-out", from_seconds(0.2), rate}},
          .seed = seed};
}

Calibration judge(const Result& result) {
  if (!result.failure.empty()) return {false, "calibration failed: " + result.failure};
  const Counts all = result.all();
  const double success = static_cast<double>(all.succeeded) / static_cast<double>(all.sent);
  const double capacity = capacity_rps(*result.cell.scenario);
  return {
      success >= kSuccess && result.stretch <= kStretch,
      fmt::format("calibration: {:.0f} requests a second by construction, {:.0f} with slots held "
                  "as long as they were; drawn service times mean {:.2f} ms; at {:g} x the bare "
                  "backend answered {:.2f} %",
                  capacity, capacity / result.stretch, to_milliseconds(result.mean_service),
                  result.cell.load, 100 * success)};
}

}  // namespace spillway::bench
