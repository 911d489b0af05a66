// Waiting rooms and their tickets as the admin pages show them, in JSON. docs/openapi.yaml has the
// schemas.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "waiting/waiting_room.hpp"

namespace spillway::proxy {

// What it is now, what has become of all tickets, and what the operator decided; `notice` has the
// message that holds.
nlohmann::ordered_json room_report(std::string_view name, const waiting::Counts& counts,
                                   const waiting::Orders& notice);

nlohmann::ordered_json ticket_report(const waiting::WaitingRoom::Report& ticket, waiting::Time now);

}  // namespace spillway::proxy
