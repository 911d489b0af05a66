// What the operator sees of a ticket or a session, and the cursor of a page of a list.
#pragma once

#include <cstddef>
#include <cstdint>

#include "waiting/room/view.hpp"
#include "waiting/ticket/ticket.hpp"
#include "waiting/ticket/tier.hpp"

namespace spillway::waiting {

struct Report {
  TicketId id;
  View view;
  Time heard{};             // the time of its last request
  bool is_present = false;  // it is waiting, and has sent a request lately or is reserved
  bool is_away = false;     // it is reserved, and its visitor is not at its page
  std::uint32_t missed = 0;
  std::size_t lane = 0;
};

struct Cursor {
  Time joined{};
  TicketId id;
  Priority priority = 0;
  std::size_t lane = 0;
};

}  // namespace spillway::waiting
