// Whether a slot is taken while part of a body is still to come: pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace spillway::proxy {

// A slot that would be held up for this long in total makes a body worth a file.
inline constexpr Duration kClientsHold = std::chrono::milliseconds(500);

// Bytes of a body that are read before the client's pace is judged: bytes buffered on the way come
// at once and say nothing. The same number of bytes at its end is always read before a slot is
// taken, so that a client that keeps the last bytes back holds no slot.
inline constexpr std::uint64_t kLeastJudged = 1024 * 1024;

// Whether the rest of a body will arrive within kClientsHold at its pace so far: `received` bytes
// in the time `taken`. That takes at least 2 MiB/s. `rest`: nullopt if unknown; then it is assumed
// to be as long as the part received.
constexpr bool will_soon_be_there(std::uint64_t received, std::optional<std::uint64_t> rest,
                                  Duration taken) {
  const std::uint64_t expected = rest.value_or(received);
  if (received < kLeastJudged || expected < kLeastJudged) return false;
  const double ratio = static_cast<double>(expected) / static_cast<double>(received);
  return to_seconds(taken) * ratio <= to_seconds(kClientsHold);
}

}  // namespace spillway::proxy
