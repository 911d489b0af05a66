#include "config/file/reload.hpp"

#include <algorithm>
#include <string>

namespace spillway::config {
namespace {

std::string shown(std::uint64_t number) { return std::to_string(number); }

bool defers(const Config& config) {
  return std::any_of(config.routes.begin(), config.routes.end(),
                     [](const Route& route) { return route.defer.has_value(); });
}

bool has_waiting_room(const Config& config, const std::string& name) {
  return std::ranges::any_of(config.routes, [&name](const Route& route) {
    return route.waiting_room.has_value() && route.name == name;
  });
}

}  // namespace

Problems needs_restart(const Config& running, const Config& wanted, bool has_store) {
  Problems problems;
  const auto compare = [&problems](const char* path, const auto& now, const auto& next) {
    if (now == next) return;
    problems.push_back(
        {path, "found " + shown(next) + ", running with " + shown(now) + ": this takes a restart"});
  };
  compare("$.listen.address", running.listen.address, wanted.listen.address);
  compare("$.listen.port", running.listen.port, wanted.listen.port);
  compare("$.admin.address", running.admin.address, wanted.admin.address);
  compare("$.admin.port", running.admin.port, wanted.admin.port);
  if (running.admin.token != wanted.admin.token)
    problems.push_back({"$.admin.token", "is another one: this takes a restart"});
  compare("$.workers", running.workers, wanted.workers);
  compare("$.limits.header_bytes", running.limits.header_bytes, wanted.limits.header_bytes);
  compare("$.store.url", running.store.url, wanted.store.url);
  compare("$.store.max_bytes", running.store.max_bytes, wanted.store.max_bytes);
  compare("$.store.key_file", running.store.key_file, wanted.store.key_file);
  if (!has_store && defers(wanted)) {
    problems.push_back({"$.routes",
                        "the first route with defer needs the store, which is opened "
                        "at the start: this takes a restart"});
  }
  return problems;
}

std::vector<RenamedWaitingRoom> renamed_waiting_rooms(const Config& running, const Config& wanted) {
  std::vector<RenamedWaitingRoom> renamed;
  for (std::size_t n = 0; n < running.routes.size(); ++n) {
    const Route& former = running.routes[n];
    if (!former.waiting_room || has_waiting_room(wanted, former.name)) continue;
    const auto next = std::ranges::find_if(wanted.routes, [&](const Route& route) {
      return route.waiting_room && route.match == former.match &&
             !has_waiting_room(running, route.name);
    });
    if (next != wanted.routes.end())
      renamed.push_back({n, static_cast<std::size_t>(next - wanted.routes.begin())});
  }
  return renamed;
}

}  // namespace spillway::config
