// Whether a session goes on, as far as this proxy knows, by its own clock: where resources are
// handed out, another visitor may have its resource after its end. A proxy that is cut off from the
// others knows of no other end.
#pragma once

#include "waiting/room/waiting_room.hpp"

namespace spillway::proxy {

inline bool goes_on(const waiting::WaitingRoom& room, const waiting::TicketId& id,
                    waiting::Time now) {
  if (!room.has_session(id)) return false;
  const auto view = room.peek(id);
  return view && (!view->allotment || now < view->allotment->until);
}

}  // namespace spillway::proxy
