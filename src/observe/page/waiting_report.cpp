#include "observe/page/waiting_report.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace spillway::observe {

nlohmann::ordered_json waiting_room_report(const WaitingRoomSnapshot& room) {
  using Json = nlohmann::ordered_json;
  const waiting::Counts& counts = room.counts;
  const auto rate = counts.entry.per_second;
  Json tiers = Json::array();
  for (std::size_t n = 0; n < room.tiers.size(); ++n) {
    tiers.push_back({{"name", room.tiers[n]},
                     {"visitors", counts.tiers[n].visitors},
                     {"fulfilled", counts.tiers[n].fulfilled}});
  }
  const bool has_told = counts.estimates.within + counts.estimates.outside > 0;
  const Json error = has_told ? Json(counts.estimates.error) : Json(nullptr);
  Json report = {{"name", room.name},
                 {"open", counts.entry.is_open},
                 {"waiting", counts.waiting},
                 {"present", counts.present},
                 {"processing", counts.processing},
                 {"active", counts.active},
                 {"provisional", counts.provisional},
                 {"entries_last_minute", counts.entry.last_minute},
                 {"entries_per_second", rate ? Json(*rate) : Json(nullptr)},
                 {"held_back_by_upstream", counts.entry.is_paced},
                 {"tiers", std::move(tiers)},
                 {"estimates",
                  {{"within", counts.estimates.within},
                   {"outside", counts.estimates.outside},
                   {"error", error}}}};
  if (counts.types.empty()) return report;
  Json resources = Json::array();
  for (const waiting::TypeCounts& type : counts.types) {
    resources.push_back({{"type", type.name},
                         {"waiting", type.waiting},
                         {"free", type.free},
                         {"called", type.called},
                         {"in_use", type.in_use},
                         {"fulfilled", type.fulfilled}});
  }
  report["resources"] = std::move(resources);
  return report;
}

nlohmann::ordered_json waiting_rooms_report(const std::vector<WaitingRoomSnapshot>& rooms) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const WaitingRoomSnapshot& room : rooms) result.push_back(waiting_room_report(room));
  return result;
}

}  // namespace spillway::observe
