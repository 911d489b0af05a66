// Retries of requests to an upstream, by result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace spillway::observe {

enum class RetryResult : std::uint8_t {
  sent,       // a further attempt; each one uses the retry budget
  success,    // a request that was answered after a further attempt
  no_budget,  // a request not retried for lack of budget
  stale,      // sent on a new connection because an idle one was closed; no budget needed
};
inline constexpr std::size_t kRetryResultCount = 4;

constexpr std::string_view name(RetryResult result) {
  constexpr std::array<std::string_view, kRetryResultCount> names{"sent", "success", "no_budget",
                                                                  "stale"};
  return names[index(result)];
}

}  // namespace spillway::observe
