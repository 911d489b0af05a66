// Results of health checks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.hpp"

namespace spillway::observe {

enum class HealthCheckResult : std::uint8_t {
  success,  // connected, and the expected status
  failure,  // refused, reset, not HTTP, or another status
  timeout,  // no result in time
  skipped,  // not made: the process had no descriptor or port left
};
inline constexpr std::size_t kHealthCheckResultCount = 4;

constexpr std::string_view name(HealthCheckResult result) {
  constexpr std::array<std::string_view, kHealthCheckResultCount> names{"success", "failure",
                                                                        "timeout", "skipped"};
  return names[index(result)];
}

// The result of one check, as the log and /state name it.
enum class HealthCheckReason : std::uint8_t {
  success,
  refused,  // no connection: refused or unreachable
  closed,   // the connection ended before the head of a response
  invalid,  // not HTTP
  status,   // not one of the expected statuses
  timeout,
  skipped,
};

constexpr std::string_view name(HealthCheckReason reason) {
  constexpr std::array<std::string_view, 7> names{"success", "refused", "closed", "invalid",
                                                  "status",  "timeout", "skipped"};
  return names[index(reason)];
}

constexpr HealthCheckResult result_of(HealthCheckReason reason) {
  switch (reason) {
    case HealthCheckReason::success: return HealthCheckResult::success;
    case HealthCheckReason::timeout: return HealthCheckResult::timeout;
    case HealthCheckReason::skipped: return HealthCheckResult::skipped;
    default: return HealthCheckResult::failure;
  }
}

struct HealthCheckReport {
  HealthCheckReason reason{};
  std::string detail;  // the status, the connection's error; empty: the reason is enough
};

}  // namespace spillway::observe
