// Results of health checks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace spillway::observe {

enum class HealthCheckResult : std::uint8_t {
  success,  // connected, and the status asked for
  failure,  // refused, reset, no HTTP, or another status
  timeout,  // none of this in time
  skipped,  // not made: the process had no descriptor or port left
};
inline constexpr std::size_t kHealthCheckResultCount = 4;

constexpr std::string_view name(HealthCheckResult result) {
  constexpr std::array<std::string_view, kHealthCheckResultCount> names{"success", "failure",
                                                                        "timeout", "skipped"};
  return names[index(result)];
}

}  // namespace spillway::observe
