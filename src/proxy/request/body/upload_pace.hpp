// Whether a slot is taken while a body is still to come: pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace spillway::proxy {

// A slot held up this long in total makes a body worth a file.
inline constexpr Duration kClientsHold = std::chrono::milliseconds(500);

// Bytes of a body that are read before its client's pace is judged: what was buffered on the way
// comes at once, and says nothing. As many at its end are always read before a slot is taken, so
// that a client that keeps the last bytes back holds no slot.
inline constexpr std::uint64_t kLeastJudged = 1024 * 1024;

// Whether the rest of a body arrives within kClientsHold at its pace so far: `received` bytes in
// the time `taken`. That takes 2 MiB/s at least. `rest`: nullopt if unknown; then as much as has
// come.
constexpr bool will_soon_be_there(std::uint64_t received, std::optional<std::uint64_t> rest,
                                  Duration taken) {
  const std::uint64_t expected = rest.value_or(received);
  if (received < kLeastJudged || expected < kLeastJudged) return false;
  const double ratio = static_cast<double>(expected) / static_cast<double>(received);
  return to_seconds(taken) * ratio <= to_seconds(kClientsHold);
}

}  // namespace spillway::proxy
