#include "config/warnings.hpp"

#include <algorithm>

namespace spillway::config {

Problems warnings(const Config& config) {
  Problems found;
  const bool has_waiting_room = std::ranges::any_of(
      config.routes, [](const Route& route) { return route.waiting_room.has_value(); });
  if (has_waiting_room && config.store.url.starts_with("postgresql:")) {
    found.push_back({"$.store.url",
                     "proxies that share this database do not share waiting rooms: each keeps its "
                     "own places in a SQLite file, and counts its own sessions"});
  }
  return found;
}

}  // namespace spillway::config
