// How a request ended, as the client that sent it sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spillway::load {

enum class Fate : std::uint8_t {
  ok,        // 2xx within the client's patience
  deferred,  // 202: accepted, to be done later
  denied,    // 429 or 503: refused, with word of when to come back
  failed,    // anything else: another status, a timeout, a refused or broken connection
};

inline constexpr std::string_view kTimeout = "timeout";           // cause: the client gave up
inline constexpr std::string_view kNoReason = "no reason given";  // cause of a bare denial

struct Ending {
  Fate fate = Fate::failed;
  std::string cause;  // of denial: its reason; of failure: "timeout", "connect", "status 502"…
  std::optional<std::uint32_t> retry_after{};  // seconds, as the Retry-After field said
  std::string degraded{};  // how an ok answer is less than a full one; empty: it is not
};

// What a complete answer means for the client. The texts are the values of the fields Proxy-Status,
// Retry-After and Spillway-Degraded, empty when absent.
Ending ending_of(unsigned status, std::string_view proxy_status, std::string_view retry_after,
                 std::string_view degraded);

}  // namespace spillway::load
