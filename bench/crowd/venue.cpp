#include "bench/crowd/venue.hpp"

#include <nlohmann/json.hpp>

namespace spillway::crowd {

std::optional<Venue> read_venue(std::string_view configuration) {
  using nlohmann::json;
  const json config = json::parse(configuration, nullptr, /*allow_exceptions=*/false,
                                  /*ignore_comments=*/true);
  if (!config.is_object()) return std::nullopt;
  for (const json& route : config.value("routes", json::array())) {
    if (!route.is_object() || !route.contains("waiting_room")) continue;
    const json room = route["waiting_room"];
    std::string path = route.value("match", json::object()).value("path", "");
    if (path.ends_with("/**")) path.resize(path.size() - 3);
    const Venue venue{.room = route.value("name", ""),
                      .page = path,
                      .active_sessions = room.value("active_sessions", 0U),
                      .claim = Milliseconds(room.value("claim_ms", 0))};
    const bool is_whole = !venue.room.empty() && venue.page.starts_with('/') &&
                          venue.active_sessions > 0 && venue.claim > Milliseconds(0) &&
                          !room.value("secure_cookie", true);
    return is_whole ? std::optional(venue) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace spillway::crowd
