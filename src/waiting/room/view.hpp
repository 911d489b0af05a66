// A visitor's view of its place, for its page and its polls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "waiting/pace/estimate.hpp"
#include "waiting/session/pass.hpp"
#include "waiting/ticket/ticket.hpp"
#include "waiting/ticket/tier.hpp"

namespace spillway::waiting {

// The used part of a line, and how many places the line has for a visitor of some priority.
struct Space {
  double taken = 0;
  double places = 0;
  double away = 0;  // tickets in line that are not expected to come; not in `taken`

  double free() const { return places - taken; }
};

// A visitor's resource, where resources are handed out.
struct Allotment {
  std::string type;
  std::string resource;      // the one it has: it is called or inside
  Milliseconds duration{0};  // the duration it asks for
  Time until{};              // for a session: its end
  Milliseconds max_wait{0};  // the visitor's own limit; 0: none
};

struct View {
  TicketState state = TicketState::waiting;
  // All tickets before it in its lane, also called and absent ones: all of higher tiers, and the
  // earlier ones of its own tier. With shares some of the higher ones are called after it.
  std::size_t ahead = 0;
  Priority priority = 0;
  Why why = Why::none;              // if it is waiting
  Time joined{};                    // the arrival that decides its place
  Time claim_until{};               // if it is processing
  std::uint32_t extensions = 0;     // the same: how often extend() still gives it more time
  std::optional<Time> begins{};     // no visitor is called before
  bool is_drawn_later = false;      // places are drawn at `begins`: do not show `ahead` until then
  Milliseconds poll{};              // whole seconds: when to poll again, as in Retry-After
  std::optional<Range> estimate{};  // if it is waiting, and the rate of entry is known
  std::uint8_t steps = 0;           // 1 to 3: half, a quarter, a tenth of its way is left
  bool asks_too_often = false;      // set by ask() only
  bool may_reserve = false;         // reserve() would make it a reservation
  bool is_reserved = false;
  std::optional<Allotment> allotment{};
};

// The result of a contact.
enum class Door : std::uint8_t {
  enter,  // goes on, with a pass
  wait,   // gets a stamp, or has a ticket
  full,   // no place within Terms::max_wait, or no more tickets
  ended,  // the operator ended the waiting room
  taken,  // its user has Terms::per_user tickets and sessions: see held_by()
  unmet   // no resource could ever meet its requirement
};

struct Contact {
  Door door = Door::full;
  std::optional<View> view{};        // `wait`
  std::optional<Session> session{};  // `enter`: issue a pass of its generation
  bool has_joined = false;           // a ticket was made
};

}  // namespace spillway::waiting
