// What the proxy says about its first upstream, taken from the admin listener's /state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spillway::demo {

// A waiting room.
struct RoomView {
  std::uint64_t waiting = 0;     // in line, not called
  std::uint64_t processing = 0;  // called
  std::uint64_t sessions = 0;    // places taken: sessions, and entries that are not one yet
};

struct ProxyView {
  std::string state;   // "NORMAL", "OVERLOADED"
  std::string reason;  // why, empty while normal
  std::optional<std::uint64_t> inflight;
  std::optional<std::uint64_t> queued;  // over all classes
  // Deferred requests, over all routes; nullopt: it defers none.
  std::optional<std::uint64_t> deferred;  // written down so far
  std::optional<std::uint64_t> done;      // of these, answered by the backend
  std::optional<RoomView> room{};         // the first; nullopt: it has none
};

// Reads what is there and leaves the rest empty, so that the live table never stops a run;
// nullopt when `json` is not an object with at least one upstream.
std::optional<ProxyView> parse_state(std::string_view json);

}  // namespace spillway::demo
