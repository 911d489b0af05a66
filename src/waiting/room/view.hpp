// What a visitor is told of its place.
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

// What is taken of a line, and how many places it has for a visitor of that kind.
struct Space {
  double taken = 0;
  double places = 0;
  double away = 0;  // tickets in line that are not expected to come; not in `taken`

  double free() const { return places - taken; }
};

// Where resources are handed out.
struct Allotment {
  std::string type;
  std::string resource;      // what it has: it is called or inside
  Milliseconds duration{0};  // that it asks for
  Time until{};              // of a session: its end
  Milliseconds max_wait{0};  // its own; 0: none
};

struct View {
  TicketState state = TicketState::waiting;
  // All in its lane before it, the called and the absent too: those of higher tiers, and those of
  // its own that came before. With shares some of the higher ones are called after it.
  std::size_t ahead = 0;
  Priority priority = 0;
  Why why = Why::none;              // if it is waiting
  Time joined{};                    // the arrival that its place goes by
  Time claim_until{};               // if it is processing
  std::uint32_t extensions = 0;     // likewise: how often extend() still gives it more time
  std::optional<Time> begins{};     // nobody is called before
  bool is_drawn_later = false;      // at `begins`: `ahead` means nothing yet, and is not for it
  Milliseconds poll{};              // whole seconds: when to ask again, as in Retry-After
  std::optional<Range> estimate{};  // if it is waiting, and the rate of entry is known
  std::uint8_t steps = 0;           // of its way: half, a quarter, a tenth of it is left
  bool asks_too_often = false;      // of ask() alone
  bool may_reserve = false;         // reserve() would make it a reservation
  bool is_reserved = false;
  std::optional<Allotment> allotment{};
};

// What comes of a contact.
enum class Door : std::uint8_t {
  enter,  // goes on, with a pass
  wait,   // gets a stamp, or has a ticket
  full,   // no place within Terms::max_wait, or no more tickets
  ended,  // the operator ended the waiting room
  taken,  // its user has Terms::per_user tickets and sessions: see held_by()
  unmet   // nothing could ever meet what it asks for
};

struct Contact {
  Door door = Door::full;
  std::optional<View> view{};        // `wait`
  std::optional<Session> session{};  // `enter`: issue a pass of its generation
  bool has_joined = false;           // a ticket was made
};

}  // namespace spillway::waiting
