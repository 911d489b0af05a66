#include "observe/waiting_report.hpp"

#include <nlohmann/json.hpp>

namespace spillway::observe {

nlohmann::ordered_json waiting_rooms_report(const std::vector<WaitingRoomSnapshot>& rooms) {
  using Json = nlohmann::ordered_json;
  Json result = Json::array();
  for (const WaitingRoomSnapshot& room : rooms) {
    const waiting::Counts& counts = room.counts;
    const auto rate = counts.entries_per_second;
    result.push_back({{"name", room.name},
                      {"open", counts.is_open},
                      {"waiting", counts.waiting},
                      {"present", counts.present},
                      {"processing", counts.processing},
                      {"active", counts.active},
                      {"provisional", counts.provisional},
                      {"entries_last_minute", counts.entries_last_minute},
                      {"entries_per_second", rate ? Json(*rate) : Json(nullptr)},
                      {"held_back_by_upstream", counts.is_paced}});
  }
  return result;
}

}  // namespace spillway::observe
