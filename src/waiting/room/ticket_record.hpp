// What a waiting room keeps of a ticket that waits or is called.
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

// What one process alone knows of a ticket.
struct AtThisProcess {
  std::uint32_t streams = 0;   // so far
  bool has_told_user = false;  // has noted whose reservation it is
};

struct TicketRecord {
  TicketId id;
  Time joined{};
  Time heard{};        // when it was last
  Time fresh_until{};  // called: by then it has learned of it
  Time claim_until{};  // likewise
  Told told;
  PollLimit polls;
  std::uint32_t poll_ms = 0;
  LeastTold least;
  std::uint32_t first_ahead = UINT32_MAX;  // when it was heard of first
  std::uint8_t missed = 0;                 // calls, up to Terms::attempts
  std::uint8_t extended = 0;               // this call, up to Terms::claim_extensions
  std::uint8_t steps = 0;                  // View::steps
  Priority priority = 0;
  AtThisProcess here;
  bool has_page = false;     // was shown it since it was heard of otherwise
  Call called = Call::none;  // by_hand: by the operator
  Coming coming = Coming::fresh;
  std::uint8_t failed = 0;   // entries, up to Terms::attempts
  bool is_reserved = false;  // its visitor may go, and is called all the same: Terms::reserve

  bool is_called() const { return called != Call::none; }

  // When it is heard of next, at the latest.
  Milliseconds interval() const {
    return std::max(Milliseconds(poll_ms), has_page ? kPageReload : Milliseconds(0));
  }

  // Without `polls` and `here`, which are of one process.
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.id, self.joined, self.heard, self.fresh_until, self.claim_until, self.told,
            self.poll_ms, self.least, self.first_ahead, self.missed, self.extended, self.steps,
            self.priority, self.called, self.coming, self.failed, self.has_page, self.is_reserved);
  }
};

}  // namespace spillway::waiting
