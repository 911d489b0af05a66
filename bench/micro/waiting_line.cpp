#include "waiting_line.hpp"

#include <cstring>
#include <stdexcept>

#include "base/random.hpp"

namespace spillway::micro {

using waiting::WaitingRoom;

waiting::TicketId visitor(std::size_t n) {
  Random random(n);
  waiting::TicketId id;
  for (std::size_t at = 0; at < id.bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t drawn = random.next();
    std::memcpy(&id.bytes[at], &drawn, sizeof drawn);
  }
  return id;
}

std::unique_ptr<WaitingRoom> waiting_line(std::size_t length, waiting::Time now) {
  const waiting::Terms terms{.active_sessions = 1,
                             .session_ttl = std::chrono::hours(24),
                             .idle = std::chrono::hours(24),
                             .abandon = std::chrono::hours(24),
                             .max_wait = std::chrono::hours(100'000),
                             .max_tickets = 10'000'000};
  auto room = std::make_unique<WaitingRoom>(terms);
  if (!room->join(visitor(0), now, now).session) throw std::logic_error("no room for the first");
  for (std::size_t n = 1; n <= length; ++n) {
    if (!room->join(visitor(n), now, now).view) throw std::logic_error("no place in line");
  }
  return room;
}

}  // namespace spillway::micro
