// Visitors of a waiting room on a virtual clock.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/random.hpp"
#include "waiting/room/waiting_room.hpp"

namespace spillway::waiting {

inline const Time kStart = Time(std::chrono::hours(490'000));
inline constexpr Milliseconds kTick{100};

// Of visitors of the same millisecond, the lower number is first (up to 2^20).
inline TicketId id_of(std::uint64_t number) {
  Random random(number);
  TicketId id;
  const std::uint64_t high = random.next();
  std::memcpy(id.bytes.data(), &high, 8);
  std::memcpy(id.bytes.data() + 8, &number, 8);
  id.bytes[13] = static_cast<std::uint8_t>(number >> 12);
  id.bytes[14] = static_cast<std::uint8_t>(number >> 4);
  id.bytes[15] = static_cast<std::uint8_t>(number << 4);
  return id;
}

// Healthy, and as quick as is asked for.
inline constexpr Backend kHealthy{.is_overloaded = false, .pace = 1};

inline Terms terms_for(std::uint32_t active_sessions, When when = When::full) {
  Terms terms;
  terms.active_sessions = active_sessions;
  terms.when = when;
  return terms;
}

}  // namespace spillway::waiting
