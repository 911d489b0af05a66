// Tunnels: connections that stay open without holding a slot. Their kinds, results and ends, and
// one worker's counts of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"
#include "observe/count/counter.hpp"

namespace spillway::observe {

enum class TunnelKind : std::uint8_t { upgrade, event_stream };
inline constexpr std::size_t kTunnelKindCount = 2;

// Each requested tunnel that got a slot counts in exactly one of these.
enum class TunnelResult : std::uint8_t {
  opened,
  refused,   // limits.tunnels was reached, or the proxy is draining
  declined,  // the upstream did not switch or stream, or could not be asked
};
inline constexpr std::size_t kTunnelResultCount = 3;

// Each opened tunnel counts in exactly one of these when it ends.
enum class TunnelEnd : std::uint8_t {
  finished,  // both sides ended it; of an event stream: either side
  broken,    // a side reset or dropped the connection
  idle,      // neither side sent anything for limits.tunnel_idle_timeout_ms
  stopped,   // the proxy ended, or a session with a waiting room's resource
};
inline constexpr std::size_t kTunnelEndCount = 4;

constexpr std::string_view name(TunnelKind kind) {
  constexpr std::array<std::string_view, kTunnelKindCount> names{"upgrade", "event_stream"};
  return names[index(kind)];
}
constexpr std::string_view name(TunnelResult result) {
  constexpr std::array<std::string_view, kTunnelResultCount> names{"opened", "refused", "declined"};
  return names[index(result)];
}
constexpr std::string_view name(TunnelEnd end) {
  constexpr std::array<std::string_view, kTunnelEndCount> names{"finished", "broken", "idle",
                                                                "stopped"};
  return names[index(end)];
}

struct TunnelCounts {
  Gauge open;
  std::array<Counter, kTunnelResultCount> asked;
  std::array<Counter, kTunnelEndCount> ended;
};

// By kind.
using TunnelUse = std::array<TunnelCounts, kTunnelKindCount>;

}  // namespace spillway::observe
