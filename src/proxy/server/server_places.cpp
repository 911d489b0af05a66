// Where places in waiting rooms are kept: in a file, or in a database shared with other proxies.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "proxy/net/random_bytes.hpp"
#include "proxy/server/server_parts.hpp"

namespace spillway::proxy {

namespace {

constexpr std::string_view kDefaultName = "spillway-places.db";

// Next to the file of the deferred requests: each has its own writer.
std::filesystem::path places_file(const config::Store& store) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (!store.url.starts_with(kSqlite)) return store_directory(store) / kDefaultName;
  const std::filesystem::path jobs = store_directory(store) / store.url.substr(kSqlite.size());
  std::filesystem::path file = jobs;
  file.replace_filename(jobs.stem().string() + "-places" + jobs.extension().string());
  return file;
}

// For places in memory. On the admin thread, like all replacements.
SecretReply replace_in_memory(VisitorContext& context, const waiting::SecretChange& change) {
  const waiting::Time now = context.clock.at(Clock::now());
  const auto next = waiting::replaced(context.keys.secrets(), change, now, now);
  if (!next) return {SecretResult::under_way, context.keys.secrets()};
  context.keys.set(*next);
  return {SecretResult::replaced, *next};
}

bool is_of_postgres(const config::Store& store) { return store.url.starts_with("postgres"); }

// Time since a process wrote to it, or to SQLite's log beside it; nullopt: there is no such file.
std::optional<Duration> age_of(const std::filesystem::path& file) {
  std::optional<Duration> age;
  for (const auto& each : {file, std::filesystem::path(file.string() + "-wal")}) {
    std::error_code error;
    const auto written = std::filesystem::last_write_time(each, error);
    if (error) continue;
    const Duration since = std::filesystem::file_time_type::clock::now() - written;
    age = std::min(age.value_or(since), since);
  }
  return age;
}

config::Problem problem(store::Failure failure) { return {"$.store.url", std::move(failure.text)}; }

}  // namespace

std::optional<config::Problem> Server::Parts::keep_places(const Generation& generation) {
  const WaitingRooms& rooms = generation.waiting_rooms;
  if (places.is_open()) places.keep(rooms);
  shared_rooms.set_kept(generation.config.store.rooms_kept);
  if (shared_rooms.is_open()) shared_rooms.keep(rooms);
  if (places.is_open() || shared_rooms.is_open()) return std::nullopt;
  const auto first =
      std::find_if(rooms.begin(), rooms.end(), [](const auto& room) { return room != nullptr; });
  const config::Store& store = generation.config.store;
  if (first == rooms.end()) {
    forget_places(store);
    return std::nullopt;
  }
  gone_rooms.reset();
  if (store.url == "memory:") {
    log.message(observe::Level::warn,
                "store.url is memory: places in waiting rooms are lost when this process ends");
    return std::nullopt;
  }
  if (is_of_postgres(store)) {
    const auto make_log = [url = store.url] { return store::postgres_room_log(url); };
    if (auto failure = shared_rooms.open(make_log, rooms)) return problem(std::move(*failure));
    shared_rooms.start();
    return std::nullopt;
  }
  const std::filesystem::path file = places_file(store);
  const std::string wanted_by =
      "$.routes[" + std::to_string(first - rooms.begin()) + "].waiting_room";
  if (auto denied = unwritable(file, wanted_by)) return denied;
  if (auto failure = places.open(file, rooms)) {
    const bool is_by_default = store.url.empty() && failure->kind == store::Failure::Kind::in_use;
    config::Problem its = problem(std::move(*failure));
    if (is_by_default) its.path = wanted_by;
    return its;
  }
  places.start();
  return std::nullopt;
}

void Server::Parts::tell_of_rooms(const store::Failure& failure) {
  log.message(observe::Level::error, "the store of waiting rooms: " + failure.text);
}

// A failure is logged; the next start or reload tries again.
void Server::Parts::forget_places(const config::Store& store) {
  if (store.url == "memory:") return;
  if (is_of_postgres(store)) {
    if (!gone_rooms) gone_rooms.emplace(store::postgres_room_log(store.url));
    gone_rooms->forget({}, store.rooms_kept);
    return;
  }
  const std::filesystem::path file = places_file(store);
  // A start without them by mistake must delete none.
  const auto age = age_of(file);
  if (!age || *age < store.rooms_kept) return;
  if (const auto failure = proxy::forget_places(file))
    log.message(observe::Level::warn,
                "places of former waiting rooms are not deleted: " + failure->text);
}

// Called by a page of a generation with waiting rooms, so they are kept by now, if they ever are.
SecretReply Server::Parts::replace_secret(waiting::Replacement how, const std::string& client) {
  waiting::SecretChange change{.how = how};
  if (!fill_randomly(change.secret)) return {SecretResult::not_written, {}};
  SecretReply reply;
  if (shared_rooms.is_open())
    reply = shared_rooms.replace_secret(change);
  else if (places.is_open())
    reply = places.replace_secret(change);
  else
    reply = replace_in_memory(*process.visitors, change);
  if (reply.result == SecretResult::replaced)
    log.room_secret_replaced(client, reply.secrets.number,
                             how == waiting::Replacement::at_once ? "at_once" : "gradual");
  return reply;
}

}  // namespace spillway::proxy
