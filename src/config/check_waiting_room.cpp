#include "config/check_waiting_room.hpp"

#include <string>

namespace spillway::config {
namespace {

std::string count_of(Milliseconds time) { return std::to_string(time.count()); }

void check_waiting_room(const WaitingRoom& room, const std::string& path, Findings& findings) {
  if (room.status != 200 && room.status != 202 && room.status != 429 && room.status != 503) {
    findings.report(path + ".status",
                    "found " + std::to_string(room.status) + ", allowed: 200, 202, 429 or 503");
  }
  if (room.poll.min > room.poll.max) {
    findings.report_order(path + ".poll.min_ms", count_of(room.poll.min), "up to",
                          path + ".poll.max_ms", count_of(room.poll.max));
  }
  if (room.idle > room.session_ttl) {
    findings.report_order(path + ".idle_ms", count_of(room.idle), "up to", path + ".session_ttl_ms",
                          count_of(room.session_ttl));
  }
  // A visitor that asks as told is never given up.
  if (room.abandon < 3 * room.poll.max) {
    findings.report_order(path + ".abandon_ms", count_of(room.abandon), "three times or more",
                          path + ".poll.max_ms", count_of(room.poll.max));
  }
}

}  // namespace

void check_waiting_rooms(const Config& config, Findings& findings) {
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    const Route& route = config.routes[i];
    if (!route.waiting_room) continue;
    const std::string route_at = route_path(i, config.routes.size());
    const std::string path = route_at + ".waiting_room";
    check_waiting_room(*route.waiting_room, path, findings);
    if (config.own_path.empty()) {
      findings.report(path, "visitors ask for their place below $.own_path, which is empty",
                      "$.own_path");
    }
    if (route.defer && route.defer->when == DeferWhen::always) {
      findings.report(path, "every request of this route is deferred: nobody is let in",
                      route_at + ".defer.when");
    }
  }
}

}  // namespace spillway::config
