// What the proxy says about its first upstream, taken from the admin listener's /state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spillway::demo {

struct ProxyView {
  std::string state;   // "NORMAL", "OVERLOADED"
  std::string reason;  // why, empty while normal
  std::optional<std::uint64_t> inflight;
  std::optional<std::uint64_t> queued;  // over all classes
  // Deferred requests, over all routes; nullopt: it defers none.
  std::optional<std::uint64_t> deferred;  // written down so far
  std::optional<std::uint64_t> done;      // of these, answered by the backend
};

// Reads what is there and leaves the rest empty, so that the live table never stops a run;
// nullopt when `json` is not an object with at least one upstream.
std::optional<ProxyView> parse_state(std::string_view json);

}  // namespace spillway::demo
