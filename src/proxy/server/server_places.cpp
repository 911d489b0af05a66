// Where the places of waiting rooms are kept: in a file, or in a database with other proxies.
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "config/warnings.hpp"
#include "proxy/server/server_parts.hpp"

namespace spillway::proxy {

namespace {

constexpr std::string_view kDefaultName = "spillway-places.db";

// Beside the file of the deferred requests: each has its own writer.
std::filesystem::path places_file(const config::Store& store) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (!store.url.starts_with(kSqlite)) return store_directory(store) / kDefaultName;
  const std::filesystem::path jobs = store_directory(store) / store.url.substr(kSqlite.size());
  std::filesystem::path file = jobs;
  file.replace_filename(jobs.stem().string() + "-places" + jobs.extension().string());
  return file;
}

config::Problem problem(store::Failure failure) { return {"$.store.url", std::move(failure.text)}; }

}  // namespace

std::optional<config::Problem> Server::Parts::keep_places(const Generation& generation) {
  const WaitingRooms& rooms = generation.waiting_rooms;
  if (places.is_open()) places.keep(rooms);
  if (shared_rooms.is_open()) shared_rooms.keep(rooms);
  if (places.is_open() || shared_rooms.is_open()) return std::nullopt;
  const auto first =
      std::find_if(rooms.begin(), rooms.end(), [](const auto& room) { return room != nullptr; });
  if (first == rooms.end()) return std::nullopt;
  for (const config::Problem& each : config::warnings(generation.config))
    log.message(observe::Level::warn, each.path + ": " + each.message);
  const config::Store& store = generation.config.store;
  if (store.url == "memory:") {
    log.message(observe::Level::warn,
                "store.url is memory: places in waiting rooms are lost when this process ends");
    return std::nullopt;
  }
  if (store.url.starts_with("postgres")) {
    const auto make_log = [url = store.url] { return store::postgres_room_log(url); };
    if (auto failure = shared_rooms.open(make_log, rooms)) return problem(std::move(*failure));
    shared_rooms.start();
    return std::nullopt;
  }
  const std::filesystem::path file = places_file(store);
  const std::string wanted_by =
      "$.routes[" + std::to_string(first - rooms.begin()) + "].waiting_room";
  if (auto denied = unwritable(file, wanted_by)) return denied;
  if (auto failure = places.open(file, rooms)) return problem(std::move(*failure));
  places.start();
  return std::nullopt;
}

}  // namespace spillway::proxy
