// The terms of one waiting room: limits, times, tiers; from its configuration, which checks ranges.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "waiting/resources/resources.hpp"
#include "waiting/terms/start.hpp"
#include "waiting/ticket/tier.hpp"

namespace spillway::waiting {

// When visitors have to wait.
enum class When : std::uint8_t {
  full,       // while no further session may begin, or other visitors wait
  always,     // each visitor gets a ticket, also if it is called at once
  overloaded  // from when the upstream is overloaded, or no further session may begin
};

// Reservations: places that are kept while their visitors are away.
struct ReserveTerms {
  Milliseconds keep{0};    // since the visitor's last request; 0: no reservations
  Milliseconds claim{0};   // time to come after the call
  bool anonymous = false;  // also for visitors without a verified user

  bool is_on() const { return keep > Milliseconds(0); }
  bool operator==(const ReserveTerms&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.keep, self.claim, self.anonymous);
  }
};

struct Terms {
  std::uint32_t active_sessions = 200;  // at most at a time, 1 to 10^6
  std::uint32_t per_minute = 0;         // sessions that begin within any 60 s; 0: no cap
  Milliseconds session_ttl{3'600'000};  // a session ends after this, used or not
  Milliseconds idle{300'000};           // a session ends after this without use
  // How long a session is assumed to last until calls have shown it; none: `idle`, 30 s at most,
  // until sessions show it (shown_stay.hpp).
  std::optional<Milliseconds> expected_stay{};
  Milliseconds claim{120'000};          // time to come after the call
  std::uint32_t claim_extensions = 10;  // how often that time may be extended by as much again
  Milliseconds abandon{300'000};        // a ticket is removed after this without a request
  Milliseconds max_wait{1'800'000};     // no more tickets than are called within this
  Milliseconds shortest_poll{5'000};    // sent to visitors at the front
  Milliseconds longest_poll{30'000};    // sent to visitors at the end
  std::uint32_t max_tickets = 100'000;  // waiting or called, 1 to 10^7
  std::uint32_t per_user = 1;           // tickets and sessions of a verified user; 0: no limit
  std::uint32_t attempts = 3;           // calls that a ticket may miss, and entries that may fail
  When when = When::full;
  Tiers tiers;
  Start start;
  Resources resources;
  ReserveTerms reserve;

  bool operator==(const Terms&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.active_sessions, self.per_minute, self.session_ttl, self.idle, self.expected_stay,
            self.claim, self.claim_extensions, self.abandon, self.max_wait, self.shortest_poll,
            self.longest_poll, self.max_tickets, self.per_user, self.attempts, self.when,
            self.tiers, self.start, self.resources, self.reserve);
  }
};

}  // namespace spillway::waiting
