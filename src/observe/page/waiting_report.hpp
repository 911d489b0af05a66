// Waiting rooms as JSON, for /state.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "observe/snapshot/snapshot.hpp"

namespace spillway::observe {

// One waiting room.
nlohmann::ordered_json waiting_room_report(const WaitingRoomSnapshot& room);
nlohmann::ordered_json waiting_rooms_report(const std::vector<WaitingRoomSnapshot>& rooms);

}  // namespace spillway::observe
