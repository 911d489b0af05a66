// Kinds of server failures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace spillway::observe {

enum class ServerFailure : std::uint8_t {
  refused,           // no connection: refused, unreachable
  connect_timeout,   // no connection in time
  reset,             // the connection ended before a byte of an answer
  response_timeout,  // the request was not taken, or its answer's head did not come, in time
  body_timeout,      // the head came, but not all of the body in time
  invalid,           // what came is not HTTP that may be passed on
  truncated,         // what came ended early
  error_status,      // 500, 502, 503 or 504
};

inline constexpr std::size_t kServerFailureCount = 8;

constexpr std::string_view name(ServerFailure failure) {
  constexpr std::array<std::string_view, kServerFailureCount> names{
      "refused",      "connect_timeout", "reset",     "response_timeout",
      "body_timeout", "invalid",         "truncated", "error_status"};
  return names[index(failure)];
}

}  // namespace spillway::observe
