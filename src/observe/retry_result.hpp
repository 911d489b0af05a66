// What was done to send requests to an upstream again: an enum to count by.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace spillway::observe {

enum class RetryResult : std::uint8_t {
  sent,       // a further attempt; each takes from the retry budget
  success,    // a request that got its answer by a further attempt
  no_budget,  // one that might have been sent again, had there been a budget for it
  stale,      // sent on a fresh connection because a kept one was closed; no budget needed
};
inline constexpr std::size_t kRetryResultCount = 4;

constexpr std::string_view name(RetryResult result) {
  constexpr std::array<std::string_view, kRetryResultCount> names{"sent", "success", "no_budget",
                                                                  "stale"};
  return names[index(result)];
}

}  // namespace spillway::observe
