// Waiting rooms and their tickets as JSON, for the admin pages. docs/openapi.yaml has the
// schemas.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "observe/snapshot/snapshot.hpp"
#include "waiting/room/waiting_room.hpp"

namespace spillway::proxy {

// The room's present state, how all its tickets ended, and the operator's decisions; `notice` has
// the message in force.
nlohmann::ordered_json room_report(const observe::WaitingRoomSnapshot& room,
                                   const waiting::Orders& notice);

// `tier`: its name.
nlohmann::ordered_json ticket_report(const waiting::WaitingRoom::Report& ticket,
                                     std::string_view tier, waiting::Time now);
// A ticket that is over.
nlohmann::ordered_json ticket_report(const waiting::TicketId& id, const waiting::End& end);

}  // namespace spillway::proxy
