// Events of tickets, queued for webhooks. Bounded: while the queue is full because nothing is taken
// from it, further events are dropped and counted.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/waiting_room.hpp"
#include "waiting/ticket/ticket.hpp"
#include "waiting/ticket/tier.hpp"

namespace spillway::waiting {

using Event = config::WaitingEvent;
inline constexpr std::size_t kEventCount = config::kWaitingEventCount;
using EventSet = std::array<bool, kEventCount>;  // by Event

struct TicketEvent {
  Event event = Event::joined;
  TicketId id;
  Time at{};
  Milliseconds waited{0};        // since its arrival
  std::uint32_t position = 0;    // joined, position: 1 is the next; 0: not known
  Priority priority = 0;         // of its tier
  std::optional<Ended> cause{};  // expired, cancelled
  std::string type{};            // the type it asks for, where resources are handed out
  std::string resource{};        // called, fulfilled: the resource it has
  bool is_reserved = false;      // its place is a reservation
  Milliseconds claim{0};         // called: how long it has to come
  std::string user{};            // reserved: its user, if that is verified; a JSON string
};

class TicketEvents {
 public:
  static constexpr std::size_t kMost = 16'384;  // 2 MiB

  // Events to record from now on. If none: recorded events are discarded, and their memory freed.
  void want(const EventSet& events) {
    if (events == wanted_) return;
    wanted_ = events;
    if (std::ranges::find(wanted_, true) == wanted_.end()) {
      ring_ = {};
      first_ = size_ = 0;
    } else if (ring_.empty()) {
      ring_.resize(kMost);
    }
  }
  bool wants(Event event) const { return wanted_[static_cast<std::size_t>(event)]; }

  // While hushed, no events are recorded; recorded ones are kept.
  void hush(bool is_hushed) { is_hushed_ = is_hushed; }
  void note(TicketEvent ticket_event) {
    if (is_hushed_ || !wants(ticket_event.event)) return;
    if (size_ == kMost) {
      ++lost_;
      return;
    }
    ring_[(first_ + size_++) % kMost] = std::move(ticket_event);
  }
  // The oldest `most` events, in their order.
  std::vector<TicketEvent> take(std::size_t most) {
    std::vector<TicketEvent> taken;
    for (; taken.size() < most && size_ > 0; --size_, first_ = (first_ + 1) % kMost)
      taken.push_back(std::move(ring_[first_]));
    return taken;
  }
  std::uint64_t lost() const { return lost_; }

 private:
  EventSet wanted_{};
  bool is_hushed_ = false;
  std::vector<TicketEvent> ring_;  // kMost, once an event is wanted
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace spillway::waiting
