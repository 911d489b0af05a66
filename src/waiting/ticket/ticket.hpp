// The ticket of one visitor, and the enumerations for what happens to it.
//
// A stamp, a ticket and a pass of the same visitor have the same id. An id is enough to look; only
// the signed token that carries it may enter or cancel, which the caller has to check.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace spillway::waiting {

// Wall-clock time, since it is written into tokens. The caller makes sure that it never steps back
// within a process.
using Time = std::chrono::sys_time<Milliseconds>;

// Shortest interval at which a page without scripts reloads: a shorter one would interrupt screen
// readers, and load the proxy.
inline constexpr Milliseconds kPageReload{20'000};

// 128 random bits, made by the proxy.
struct TicketId {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const TicketId&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.bytes);
  }
};

// 32 lower-case hexadecimal digits.
std::string to_text(const TicketId& id);
std::optional<TicketId> parse_ticket_id(std::string_view text);

// For tickets that have ended: RecentlyEnded.
enum class TicketState : std::uint8_t {
  waiting,     // in line
  processing,  // called: may claim a session until View::claim_until
  fulfilled    // has a session
};

// Why a visitor waits longer than first announced.
enum class Why : std::uint8_t {
  none,
  paused,       // the operator has paused calls
  higher_tier,  // visitors of a higher tier have come: its position number has risen
  returned,     // visitors before it in its own tier have come back: the same
  busy,         // the upstream is overloaded
  early,        // no calls before Terms::start
  lot,          // the same, and places are drawn then
  slower        // entry is slower than when its wait was last announced
};
// For reports, and a key of the page's texts.
std::string_view name(Why why);

// Why a ticket or a session ended.
enum class Ended : std::uint8_t {
  cancelled,     // either: its visitor left
  abandoned,     // ticket: no request for Terms::abandon
  not_claimed,   // ticket: called Terms::attempts times, and its visitor never came
  idle,          // session: not used for Terms::idle
  too_long,      // session: lasted Terms::session_ttl
  copied,        // session: its pass is used in two places
  removed,       // either: the operator cancelled it
  room_ended,    // ticket: the operator ended the waiting room
  own_max_wait,  // ticket: it has waited for the maximum that its visitor gave
  no_resource    // ticket: no remaining resource could meet its requirement
};

inline constexpr std::size_t kEndedCount = 10;
// Name in metrics and reports.
std::string_view name(Ended why);
// A timer ended it, not somebody's decision.
bool is_expiry(Ended why);

}  // namespace spillway::waiting
