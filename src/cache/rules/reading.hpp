// How fast a client must read a stored response once the store needs its memory.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace spillway::cache {

struct Reading {
  Duration lasted{};        // since it began, or was last found fast enough
  std::uint64_t bytes = 0;  // read in that time
};

inline constexpr Duration kReadingGrace = std::chrono::seconds(5);  // also the period of each check
inline constexpr std::uint64_t kReadingRate = 64 * 1024;            // bytes a second

// Whether the reader may keep the response although there is no room for others: a reader that pins
// memory must read at kReadingRate or more, so that pinning much memory costs bandwidth.
constexpr bool may_go_on(const Reading& reading) {
  if (reading.lasted < kReadingGrace) return true;
  const double seconds = std::chrono::duration<double>(reading.lasted).count();
  return static_cast<double>(reading.bytes) >= seconds * static_cast<double>(kReadingRate);
}

}  // namespace spillway::cache
