// Kinds of failures of an upstream's server.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace spillway::observe {

enum class ServerFailure : std::uint8_t {
  refused,           // no connection: refused or unreachable
  connect_timeout,   // no connection in time
  reset,             // the connection ended before a byte of the response
  response_timeout,  // the request was not read, or the response head did not arrive, in time
  body_timeout,      // the head arrived, but not the whole body in time
  invalid,           // the response is not HTTP that may be forwarded
  truncated,         // the response ended early
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
