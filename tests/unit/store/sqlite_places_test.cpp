// The file of the places in waiting rooms: what is written is read again, and nothing else.
#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "store/contract/job_store.hpp"
#include "store/contract/place_store.hpp"
#include "support/temporary_directory.hpp"

namespace spillway::store {
namespace {

using std::filesystem::path;
using waiting::Place;
using waiting::Time;

const Time kNow{Milliseconds(1'800'000'000'000)};
const VisitorSecret kSecret{1, 2, 3};

Place place(std::uint8_t n, Place::Kind kind = Place::Kind::ticket, Milliseconds age = {}) {
  Place made{.kind = kind, .since = kNow - age, .missed = n};
  made.id.bytes[15] = n;
  if (kind == Place::Kind::ticket) made.priority = n;
  if (kind == Place::Kind::ticket && n % 4 == 3) made.order = waiting::Order{1} << 63 | n;
  if (made.order) made.tie = n;
  made.is_reserved = kind == Place::Kind::ticket && n % 3 == 1;
  if (kind != Place::Kind::ended && n % 3 == 1) made.ask = "gpu;memory_gb=" + std::to_string(n);
  if (kind == Place::Kind::session && n % 3 == 1) made.resource = "gpu-" + std::to_string(n);
  if (kind == Place::Kind::session) made.used = kNow + Milliseconds(n);
  if (kind != Place::Kind::ended && n % 2 == 1) made.user.bytes[3] = n;
  return made;
}

std::unique_ptr<PlaceStore> open_at(const path& file) {
  OpenedPlaces opened = open_places(file, kSecret);
  if (!opened.store) FAIL(opened.failure.text);
  return std::move(opened.store);
}

PlacesRead read(PlaceStore& store) {
  PlacesRead read;
  const auto failure = store.read(read);
  if (failure) FAIL(failure->text);
  for (auto& [room, places] : read.rooms)
    std::ranges::sort(places, {}, [](const Place& one) { return one.id; });
  return read;
}

void write(PlaceStore& store, const std::vector<PlaceChanges>& changes, Time until = kNow) {
  const auto failure = store.write(changes, until, until - Milliseconds(7));
  if (failure) FAIL(failure->text);
}

Failure refused(const path& file) {
  OpenedPlaces opened = open_places(file, kSecret);
  CHECK(opened.store == nullptr);
  CHECK(opened.failure.text.find(file.string()) != std::string::npos);
  return opened.failure;
}

// 0: a file that may not grow refuses, keeps what it has, and takes more when it may again.
int fill_and_recover_places(const path& file) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{1 << 20, RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  OpenedPlaces opened = open_places(file, kSecret);
  if (!opened.store) return 1;
  std::optional<Failure> failure;
  std::size_t kept = 0;
  for (std::size_t batch = 0; !failure && batch < 1000; ++batch) {
    std::vector<Place> places;
    for (std::size_t n = 0; n < 1000; ++n) {
      Place made{.kind = Place::Kind::ticket, .since = kNow};
      made.id.bytes[0] = static_cast<std::uint8_t>(n);
      made.id.bytes[1] = static_cast<std::uint8_t>(n >> 8);
      made.id.bytes[2] = static_cast<std::uint8_t>(batch);
      made.id.bytes[3] = static_cast<std::uint8_t>(batch >> 8);
      places.push_back(made);
    }
    const std::vector<PlaceChanges> changes{{"sale", false, places}};
    failure = opened.store->write(changes, kNow, kNow);
    if (!failure) kept += places.size();
  }
  if (!failure || failure->kind != Failure::Kind::full) return 2;
  limit.rlim_cur = RLIM_INFINITY;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const std::vector<PlaceChanges> one{{"other", false, {place(1)}}};
  if (opened.store->write(one, kNow, kNow)) return 3;
  PlacesRead all;
  if (opened.store->read(all)) return 4;
  return all.rooms["sale"].size() == kept && all.rooms["other"].size() == 1 ? 0 : 5;
}

}  // namespace

TEST_CASE("places, the secret and the time come back as they were written") {
  const support::TemporaryDirectory directory;
  const path file = directory.path() / "places.db";
  {
    const auto store = open_at(file);
    CHECK(read(*store).until == Time{});
    write(*store, {{"sale", false, {place(1), place(2, Place::Kind::session)}},
                   {"course", false, {place(1)}}});
    write(*store, {{"sale", false, {place(1, Place::Kind::session), place(3)}}},
          kNow + Milliseconds(100));
  }
  OpenedPlaces opened = open_places(file, VisitorSecret{9});
  REQUIRE(opened.store);
  PlacesRead all = read(*opened.store);
  CHECK(all.secrets == waiting::first_secrets(kSecret));  // that of the first time
  CHECK(all.until == kNow + Milliseconds(100));
  CHECK(all.used_until == kNow + Milliseconds(93));
  CHECK(all.rooms["sale"] == std::vector<Place>{place(1, Place::Kind::session),
                                                place(2, Place::Kind::session), place(3)});
  CHECK(all.rooms["course"] == std::vector<Place>{place(1)});
}

TEST_CASE("a replaced secret and the former one come back as they were written") {
  const support::TemporaryDirectory directory;
  const path file = directory.path() / "places.db";
  waiting::TokenSecrets secrets = waiting::first_secrets(kSecret);
  for (const waiting::Replacement how :
       {waiting::Replacement::gradual, waiting::Replacement::at_once}) {
    secrets = *waiting::replaced(secrets, {how, {9}}, kNow, kNow);
    CHECK_FALSE(open_at(file)->keep(secrets));
    CHECK(read(*open_at(file)).secrets == secrets);
  }
  secrets = *waiting::replaced(secrets, {waiting::Replacement::gradual, {7}}, kNow, kNow);
  CHECK_FALSE(open_at(file)->keep(secrets));
  CHECK_FALSE(open_at(file)->keep(waiting::without_former(secrets)));
  CHECK(read(*open_at(file)).secrets == waiting::without_former(secrets));
}

TEST_CASE("a file of the first version is taken over: its places have nothing of what came later") {
  const support::TemporaryDirectory directory;
  const path file = directory.path() / "places.db";
  {
    const auto store = open_at(file);
    write(*store, {{"sale", false, {place(7), place(8, Place::Kind::session)}}});
  }
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  const auto run = [&](const char* sql) {
    CAPTURE(sql);
    CHECK(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  };
  run("ALTER TABLE places DROP COLUMN priority");
  run("ALTER TABLE places DROP COLUMN user");
  run("ALTER TABLE places DROP COLUMN ask");
  run("ALTER TABLE places DROP COLUMN resource");
  run("ALTER TABLE places DROP COLUMN place");
  run("ALTER TABLE places DROP COLUMN tie");
  run("ALTER TABLE places DROP COLUMN reserved");
  run("ALTER TABLE places DROP COLUMN used");
  run("DROP TABLE orders");
  for (const char* const column : {"number", "since", "former", "lasting", "used_until"})
    run((std::string("ALTER TABLE settings DROP COLUMN ") + column).c_str());
  run("PRAGMA user_version = 1");
  sqlite3_close(database);
  const auto store = open_at(file);
  Place without = place(7);
  without.priority = 0;
  without.user = {};
  without.ask.clear();
  without.order.reset();
  without.tie = 0;
  without.is_reserved = false;
  Place unknown = place(8, Place::Kind::session);
  unknown.used = {};
  CHECK(read(*store).rooms["sale"] == std::vector<Place>{without, unknown});
  CHECK(read(*store).used_until == Time{});
  write(*store, {{"sale", false, {place(9)}}});
  CHECK(read(*store).rooms["sale"].back() == place(9));
}

TEST_CASE("a whole waiting room replaces what was written of it, and of no other") {
  const support::TemporaryDirectory directory;
  const auto store = open_at(directory.path() / "places.db");
  write(*store, {{"sale", false, {place(1), place(2)}}, {"course", false, {place(3)}}});
  write(*store, {{"sale", true, {place(4)}}});
  PlacesRead all = read(*store);
  CHECK(all.rooms["sale"] == std::vector<Place>{place(4)});
  CHECK(all.rooms["course"].size() == 1);
  write(*store, {{"sale", true, {}}});
  CHECK(read(*store).rooms.count("sale") == 0);
}

TEST_CASE("what the operator has decided is there until it is decided otherwise") {
  const support::TemporaryDirectory directory;
  const path file = directory.path() / "places.db";
  waiting::Orders orders{.is_held_open = true, .message = "Back at 3\xC3\xBC.", .changes = 1};
  {
    const auto store = open_at(file);
    write(*store, {{"sale", false, {place(1)}, orders}, {"course", false, {}, orders}});
    orders = {.is_paused = true, .has_ended = true, .changes = 1};
    write(*store, {{"sale", false, {}, orders}});
    write(*store, {{"sale", false, {place(2)}}});  // nothing decided
  }
  const auto store = open_at(file);
  PlacesRead all = read(*store);
  CHECK(all.orders.size() == 2);
  CHECK(all.orders["sale"] == orders);
  CHECK(all.orders["course"].is_held_open);
  CHECK(all.orders["course"].message == "Back at 3\xC3\xBC.");
  CHECK(all.rooms["sale"].size() == 2);
  write(*store, {{"course", true, {}}});  // the room is gone
  CHECK(read(*store).orders.size() == 1);
}

TEST_CASE("that something has ended is forgotten after a while, and places are not") {
  const support::TemporaryDirectory directory;
  const auto store = open_at(directory.path() / "places.db");
  const Milliseconds old = PlaceStore::kEndedKept + Milliseconds(1);
  write(*store, {{"sale",
                  false,
                  {place(1, Place::Kind::ended), place(2, Place::Kind::ended, old),
                   place(3, Place::Kind::ticket, old), place(4, Place::Kind::session, old)}}});
  const auto left = read(*store).rooms["sale"];
  REQUIRE(left.size() == 3);
  CHECK(left[0].kind == Place::Kind::ended);
  CHECK(left[1].kind == Place::Kind::ticket);
  CHECK(left[2].kind == Place::Kind::session);
}

TEST_CASE("the file is the owner's alone, one process's at a time, and no other kind of file") {
  const support::TemporaryDirectory directory;
  const path file = directory.path() / "places.db";
  {
    const auto store = open_at(file);
    struct stat status {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK(refused(file).kind == Failure::Kind::in_use);
  }
  CHECK(refused(directory.write("text.db", std::string(8192, 'x'))).kind == Failure::Kind::corrupt);
  REQUIRE(open_store("sqlite:jobs.db", directory.path()).store);
  CHECK(refused(directory.path() / "jobs.db").kind == Failure::Kind::corrupt);
  const Opened jobs = open_store("sqlite:places.db", directory.path());
  CHECK(jobs.store == nullptr);
  CHECK(jobs.failure.kind == Failure::Kind::corrupt);

  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  CHECK(sqlite3_exec(database, "PRAGMA user_version = 99", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  CHECK(refused(file).kind == Failure::Kind::newer_version);
}

TEST_CASE("places on a full disk stay, none is half written, and it passes") {
  const support::TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(fill_and_recover_places(directory.path() / "places.db"));
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace spillway::store
