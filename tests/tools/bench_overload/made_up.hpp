// Made-up results of cells.
#pragma once

#include <string>
#include <utility>

#include "bench/overload/result.hpp"

namespace spillway::bench::test {

inline constexpr std::uint8_t kWarmUp = 0, kMeasured = 1, kRunOut = 2;
inline constexpr std::chrono::seconds kFrom{1}, kUntil{2};  // what is measured, since the start

inline Result result_of(std::string_view scenario = "capacity-known",
                        std::string_view contender = "spillway", int repetition = 1) {
  const double rate = 2 * capacity_rps(*find_scenario(scenario));
  return Result({.scenario = find_scenario(scenario),
                 .contender = find_contender(contender),
                 .load = 2,
                 .repetition = repetition,
                 .phases = {{"warm-up", std::chrono::seconds(1), rate},
                            {"measured", std::chrono::seconds(1), rate},
                            {"run-out", std::chrono::seconds(1), rate}}});
}

inline load::Ending ok() { return {.fate = load::Fate::ok}; }
inline load::Ending gave_up() {
  return {.fate = load::Fate::failed, .cause = std::string(load::kTimeout)};
}
inline load::Ending denied(std::string_view reason) {
  return {.fate = load::Fate::denied, .cause = std::string(reason)};
}

inline void happen(CellTally& tally, const load::Arrival& arrival, const load::Ending& ending,
                   Duration took, int times = 1) {
  for (int i = 0; i < times; ++i) {
    const load::Attempt attempt{arrival, 1, arrival.at};
    tally.sent(attempt, Duration::zero());
    tally.ended(attempt, ending, took, false);
  }
}

}  // namespace spillway::bench::test
