// Tickets that polled too often (waiting/room/poll_limit.hpp), and until when their polls are
// refused without a look at the waiting room: so a flood of polls takes the room's lock only a few
// times per interval. Thread-safe, without a lock.
//
// A fixed table, indexed by random bits of the ids. A hold overwrites a former one, whose ticket is
// then looked up again; of two ids that agree in kTagBits and the index, one may be held for the
// other, once in 2^33.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>

#include "waiting/ticket/ticket.hpp"

namespace spillway::proxy {

class PollHolds {
 public:
  void hold(const waiting::TicketId& id, waiting::Time until) {
    place(id).store(entry(id, until), std::memory_order_relaxed);
  }
  // The rest of the hold; nullopt: it is not held.
  std::optional<Milliseconds> held(const waiting::TicketId& id, waiting::Time now) const {
    const std::uint64_t found = place(id).load(std::memory_order_relaxed);
    if (found >> kTimeBits != tag(id)) return std::nullopt;
    const waiting::Time until(Milliseconds(static_cast<std::int64_t>(found & kTimeMask)));
    return until > now ? std::optional(until - now) : std::nullopt;
  }

 private:
  static constexpr unsigned kTimeBits = 43;  // milliseconds up to the year 2248
  static constexpr unsigned kTagBits = 64 - kTimeBits;
  static constexpr std::uint64_t kTimeMask = (std::uint64_t{1} << kTimeBits) - 1;

  static std::uint64_t bits(const waiting::TicketId& id) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, id.bytes.data(), sizeof bits);
    return bits;
  }
  static std::uint64_t tag(const waiting::TicketId& id) { return bits(id) >> kTimeBits; }
  static std::uint64_t entry(const waiting::TicketId& id, waiting::Time until) {
    const auto time = static_cast<std::uint64_t>(until.time_since_epoch().count());
    return tag(id) << kTimeBits | (time & kTimeMask);
  }
  std::atomic<std::uint64_t>& place(const waiting::TicketId& id) {
    return places_[bits(id) % places_.size()];
  }
  const std::atomic<std::uint64_t>& place(const waiting::TicketId& id) const {
    return places_[bits(id) % places_.size()];
  }

  std::array<std::atomic<std::uint64_t>, 4096> places_{};  // 32 KiB
};

}  // namespace spillway::proxy
