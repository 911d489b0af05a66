#include "observe/waiting_report.hpp"

#include <nlohmann/json.hpp>

namespace spillway::observe {

nlohmann::ordered_json waiting_room_report(const WaitingRoomSnapshot& room) {
  using Json = nlohmann::ordered_json;
  const waiting::Counts& counts = room.counts;
  const auto rate = counts.entries_per_second;
  return {{"name", room.name},
          {"open", counts.is_open},
          {"waiting", counts.waiting},
          {"present", counts.present},
          {"processing", counts.processing},
          {"active", counts.active},
          {"provisional", counts.provisional},
          {"entries_last_minute", counts.entries_last_minute},
          {"entries_per_second", rate ? Json(*rate) : Json(nullptr)},
          {"held_back_by_upstream", counts.is_paced}};
}

nlohmann::ordered_json waiting_rooms_report(const std::vector<WaitingRoomSnapshot>& rooms) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const WaitingRoomSnapshot& room : rooms) result.push_back(waiting_room_report(room));
  return result;
}

}  // namespace spillway::observe
