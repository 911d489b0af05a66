// Places in waiting rooms, in a SQLite file of their own.
#include <utility>

#include "store/contract/place_store.hpp"
#include "store/sqlite/sqlite_database.hpp"
#include "store/sqlite/sqlite_file.hpp"

namespace spillway::store {

namespace {

using waiting::Place;
using waiting::Time;

constexpr const char* kPlaceSettings =
    "PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF";

std::int64_t stored(Time time) { return time.time_since_epoch().count(); }
std::optional<std::int64_t> stored(const std::optional<waiting::Order>& order) {
  return order ? std::optional(static_cast<std::int64_t>(*order)) : std::nullopt;
}

class SqlitePlaces final : public PlaceStore {
 public:
  explicit SqlitePlaces(FileLock lock) : lock_(std::move(lock)) {}

  std::optional<Failure> open(const std::filesystem::path& file, const VisitorSecret& secret);
  std::optional<Failure> read(PlacesRead& into) override;
  std::optional<Failure> write(std::span<const PlaceChanges> changes, Time until,
                               Time used_until) override;
  std::optional<Failure> keep(const waiting::TokenSecrets& secrets) override;

 private:
  FileLock lock_;
  Database database_;  // must be constructed before its statements
  Statement begin_{database_, "BEGIN IMMEDIATE"};
  Statement commit_{database_, "COMMIT"};
  Statement put_{
      database_,
      "INSERT OR REPLACE INTO places"
      " (room, id, kind, since, missed, priority, user, ask, resource, place, tie,"
      " reserved, used) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"};
  Statement clear_{database_, "DELETE FROM places WHERE room = ?1"};
  Statement order_{database_,
                   "INSERT OR REPLACE INTO orders (room, held_open, paused, ended, message)"
                   " VALUES (?1, ?2, ?3, ?4, ?5)"};
  Statement clear_orders_{database_, "DELETE FROM orders WHERE room = ?1"};
  Statement forget_{database_, "DELETE FROM places WHERE kind IN (0, 3) AND since < ?1"};
  Statement until_{database_, "UPDATE settings SET until = ?1, used_until = ?2"};
  Statement secrets_{database_,
                     "UPDATE settings SET number = ?1, secret = ?2, since = ?3, former = ?4,"
                     " lasting = ?5"};
};

std::optional<Failure> SqlitePlaces::open(const std::filesystem::path& file,
                                          const VisitorSecret& secret) {
  if (!database_.open(file.string())) return database_.failure();
  const std::int64_t version = database_.number("PRAGMA user_version").value_or(0);
  if (version > kPlaceTables.newest()) {
    return Failure{Failure::Kind::newer_version,
                   file.string() + " was written by a later version of Spillway"};
  }
  database_.run(kPlaceSettings);
  database_.text("PRAGMA journal_mode = WAL");
  migrate(database_, kPlaceTables);
  Statement first(database_,
                  "INSERT OR IGNORE INTO settings (one, secret, lasting, until)"
                  " VALUES (1, ?1, ?1, 0)");
  first.execute(blob(secret));
  if (database_.failed()) return database_.failure();
  return std::nullopt;
}

std::optional<Failure> SqlitePlaces::read(PlacesRead& into) {
  database_.forgive();
  Statement settings(
      database_, "SELECT until, number, secret, since, lasting, former, used_until FROM settings");
  Rows row = settings.with();
  if (row.next()) {
    into.until = Time(Milliseconds(row.number(0)));
    into.secrets.number = static_cast<std::uint32_t>(row.number(1));
    row.read(2, into.secrets.newest);
    into.secrets.since = Time(Milliseconds(row.number(3)));
    row.read(4, into.secrets.lasting);
    if (!row.is_null(5)) row.read(5, into.secrets.former.emplace());
    into.used_until = Time(Milliseconds(row.number(6)));
  }
  Statement places(
      database_,
      "SELECT room, id, kind, since, missed, priority, user, ask, resource, place, tie,"
      " reserved, used FROM places");
  Rows rows = places.with();
  while (rows.next()) {
    Place place;
    rows.read(1, place.id.bytes);
    place.kind = static_cast<Place::Kind>(rows.number(2));
    place.since = Time(Milliseconds(rows.number(3)));
    place.missed = static_cast<std::uint32_t>(rows.number(4));
    place.priority = static_cast<waiting::Priority>(rows.number(5));
    if (!rows.is_null(6)) rows.read(6, place.user.bytes);
    place.ask = rows.text(7);
    place.resource = rows.text(8);
    if (!rows.is_null(9)) place.order = static_cast<waiting::Order>(rows.number(9));
    place.tie = static_cast<std::uint32_t>(rows.number(10));
    place.is_reserved = rows.number(11) != 0;
    place.used = Time(Milliseconds(rows.number(12)));
    into.rooms[rows.text(0)].push_back(place);
  }
  Statement orders(database_, "SELECT room, held_open, paused, ended, message FROM orders");
  Rows ordered = orders.with();
  while (ordered.next()) {
    into.orders[ordered.text(0)] = {.is_held_open = ordered.number(1) != 0,
                                    .is_paused = ordered.number(2) != 0,
                                    .has_ended = ordered.number(3) != 0,
                                    .message = ordered.text(4),
                                    .changes = 1};
  }
  if (database_.failed()) return database_.failure();
  return std::nullopt;
}

std::optional<Failure> SqlitePlaces::write(std::span<const PlaceChanges> changes, Time until,
                                           Time used_until) {
  database_.forgive();
  begin_.execute();
  for (const PlaceChanges& of : changes) {
    if (of.is_whole) {
      clear_.execute(std::string_view(of.room));
      clear_orders_.execute(std::string_view(of.room));
    }
    if (of.orders) {
      order_.execute(std::string_view(of.room), std::int64_t{of.orders->is_held_open},
                     std::int64_t{of.orders->is_paused}, std::int64_t{of.orders->has_ended},
                     std::string_view(of.orders->message));
    }
    for (const Place& place : of.places) {
      put_.execute(
          std::string_view(of.room), blob(place.id.bytes), static_cast<std::int64_t>(place.kind),
          stored(place.since), static_cast<std::int64_t>(place.missed),
          static_cast<std::int64_t>(place.priority),
          place.user.is_nobody() ? std::nullopt : std::optional(blob(place.user.bytes)),
          std::string_view(place.ask), std::string_view(place.resource), stored(place.order),
          std::int64_t{place.tie}, std::int64_t{place.is_reserved}, stored(place.used));
    }
  }
  forget_.execute(stored(until - kEndedKept));
  until_.execute(stored(until), stored(used_until));
  commit_.execute();
  if (!database_.failed()) return std::nullopt;
  const Failure failure = database_.failure();
  database_.forgive();
  if (sqlite3_get_autocommit(database_.handle()) == 0) database_.run("ROLLBACK");
  return failure;
}

std::optional<Failure> SqlitePlaces::keep(const waiting::TokenSecrets& secrets) {
  database_.forgive();
  secrets_.execute(std::int64_t{secrets.number}, blob(secrets.newest), stored(secrets.since),
                   secrets.former ? std::optional(blob(*secrets.former)) : std::nullopt,
                   blob(secrets.lasting));
  if (!database_.failed()) return std::nullopt;
  const Failure failure = database_.failure();
  database_.forgive();
  return failure;
}

}  // namespace

OpenedPlaces open_places(const std::filesystem::path& file, const VisitorSecret& secret) {
  FileLock lock;
  if (auto failure = lock.take(file)) return {nullptr, *failure};
  if (auto failure = prepare_file(file, kPlaceTables)) return {nullptr, *failure};
  auto store = std::make_unique<SqlitePlaces>(std::move(lock));
  if (auto failure = store->open(file, secret)) return {nullptr, *failure};
  return {std::move(store), {}};
}

}  // namespace spillway::store
