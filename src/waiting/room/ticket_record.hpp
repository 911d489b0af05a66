// A waiting room's record of a ticket that waits or is called.
#pragma once

#include <algorithm>
#include <cstdint>

#include "waiting/pace/told.hpp"
#include "waiting/room/lane.hpp"
#include "waiting/room/poll_limit.hpp"
#include "waiting/ticket/ticket.hpp"
#include "waiting/ticket/tier.hpp"

namespace spillway::waiting {

enum class Call : std::uint8_t { none, in_turn, by_hand };

// A part of the record that only this process has.
struct AtThisProcess {
  std::uint32_t streams = 0;   // event streams so far
  bool has_told_user = false;  // its reservation's user is in an event
};

struct TicketRecord {
  TicketId id;
  Time joined{};
  Time heard{};        // the time of its last request
  Time fresh_until{};  // called: by then its page has shown the call
  Time claim_until{};  // called: by then it has to come
  Told told;
  PollLimit polls;
  std::uint32_t poll_ms = 0;
  LeastTold least;
  std::uint32_t first_ahead = UINT32_MAX;  // at its first request
  std::uint8_t missed = 0;                 // calls, up to Terms::attempts
  std::uint8_t extended = 0;               // in this call, up to Terms::claim_extensions
  std::uint8_t steps = 0;                  // View::steps
  Priority priority = 0;
  AtThisProcess here;
  bool has_page = false;     // its last request got the page
  Call called = Call::none;  // by_hand: by the operator
  Coming coming = Coming::fresh;
  std::uint8_t failed = 0;   // entries, up to Terms::attempts
  bool is_reserved = false;  // its visitor may go away, and is called all the same: Terms::reserve

  bool is_called() const { return called != Call::none; }

  // The longest time until its next request.
  Milliseconds interval() const {
    return std::max(Milliseconds(poll_ms), has_page ? kPageReload : Milliseconds(0));
  }

  // Without `polls` and `here`, which each process has for itself.
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.id, self.joined, self.heard, self.fresh_until, self.claim_until, self.told,
            self.poll_ms, self.least, self.first_ahead, self.missed, self.extended, self.steps,
            self.priority, self.called, self.coming, self.failed, self.has_page, self.is_reserved);
  }
};

}  // namespace spillway::waiting
