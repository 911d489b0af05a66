// Waiting rooms as /state shows them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "observe/snapshot.hpp"

namespace spillway::observe {

nlohmann::ordered_json waiting_rooms_report(const std::vector<WaitingRoomSnapshot>& rooms);

}  // namespace spillway::observe
