// Waiting rooms and their tickets as the admin pages show them, in JSON. docs/openapi.yaml has the
// schemas.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "observe/snapshot/snapshot.hpp"
#include "waiting/room/waiting_room.hpp"

namespace spillway::proxy {

// What it is now, what has become of all tickets, and what the operator decided; `notice` has the
// message that holds.
nlohmann::ordered_json room_report(const observe::WaitingRoomSnapshot& room,
                                   const waiting::Orders& notice);

// `tier`: its name.
nlohmann::ordered_json ticket_report(const waiting::WaitingRoom::Report& ticket,
                                     std::string_view tier, waiting::Time now);
// One that is over.
nlohmann::ordered_json ticket_report(const waiting::TicketId& id, const waiting::End& end);

}  // namespace spillway::proxy
