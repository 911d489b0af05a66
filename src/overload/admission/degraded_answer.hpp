// The answer to a request that a rule degrades, by the rule and by what is available for it.
#pragma once

#include <cstdint>
#include <optional>

#include "config/config.hpp"
#include "overload/admission/decide.hpp"

namespace spillway::overload {

enum class DegradedAnswer : std::uint8_t {
  none,
  stored,    // from the route's cache, fresh or stale
  fallback,  // the route's
  cheaper,   // the upstream's, which is asked to skip expensive work
};

// The answers available without the upstream.
struct AtHand {
  bool stored = false;
  bool fallback = false;
};

// Whether the mode ever gives a cached response.
constexpr bool gives_stored(config::DegradeMode mode) {
  return mode != config::DegradeMode::skip_downstream;
}

constexpr bool costs_nothing(DegradedAnswer answer) {
  return answer == DegradedAnswer::stored || answer == DegradedAnswer::fallback;
}

// The answer by a rule's mode, before its `miss` applies.
constexpr DegradedAnswer answer_of_mode(config::DegradeMode mode, std::optional<bool> annotate,
                                        AtHand has) {
  if (gives_stored(mode)) return has.stored ? DegradedAnswer::stored : DegradedAnswer::none;
  if (annotate.value_or(!has.fallback)) return DegradedAnswer::cheaper;
  return has.fallback ? DegradedAnswer::fallback : DegradedAnswer::none;
}

// The answer to a request with the verdict `degrade`. None: on_miss() decides whether the upstream
// is asked.
constexpr DegradedAnswer degraded_answer(const Verdict& degraded, AtHand has) {
  const DegradedAnswer answer = answer_of_mode(degraded.mode, degraded.annotate, has);
  const bool is_miss = answer == DegradedAnswer::none;
  return is_miss && has.fallback && degraded.miss == config::Miss::fallback
             ? DegradedAnswer::fallback
             : answer;
}

// The answer in place of a refusal, whatever its reason, where the rule `degrading` degrades. None:
// the refusal stands. Only an explicit `deny` withholds the fallback.
constexpr DegradedAnswer answer_for_refusal(const config::Rule& degrading, AtHand has) {
  if (has.stored && gives_stored(degrading.mode)) return DegradedAnswer::stored;
  return has.fallback && degrading.miss != config::Miss::deny ? DegradedAnswer::fallback
                                                              : DegradedAnswer::none;
}

}  // namespace spillway::overload
