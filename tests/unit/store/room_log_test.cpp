// The log of waiting rooms in a real PostgreSQL.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "store/contract/room_log.hpp"
#include "support/event.hpp"
#include "support/postgres.hpp"
#include "unit/store/postgres_contract.hpp"

using namespace spillway;
using namespace spillway::store;
using support::Postgres;

namespace {

RoomTurn taken(RoomLog& log, RoomTurn turn) {
  const auto failure = log.take(turn);
  REQUIRE_MESSAGE(!failure, failure.value_or(Failure{}).text);
  return turn;
}

RoomTurn written(RoomLog& log, const std::string& entry, std::uint64_t after = 0) {
  return taken(log, {.room = "sale", .entry = entry, .after = after});
}

TEST_CASE("a row is read with those before it by who wrote it, and by others") {
  if (!Postgres::is_installed()) return;
  const std::string url = postgres_server().create_database();
  const auto first = postgres_room_log(url);
  const auto second = postgres_room_log(url);
  CHECK(written(*first, "a").written == 1);
  const RoomTurn turn = written(*second, std::string("b\0c", 3));
  CHECK(turn.written == 2);
  REQUIRE(turn.rows.size() == 2);
  CHECK(turn.rows[0].entry == "a");
  CHECK(turn.rows[1].entry == std::string("b\0c", 3));
  CHECK(turn.rows[0].time <= turn.rows[1].time);
  CHECK(turn.rows[0].time > waiting::Time(std::chrono::hours(24 * 365 * 50)));
  const RoomTurn rest = taken(*first, {.room = "sale", .after = 1});
  REQUIRE(rest.rows.size() == 1);
  CHECK(rest.rows[0].number == 2);
  CHECK(taken(*first, {.room = "fair"}).rows.empty());
}

TEST_CASE("rows of many writers have all numbers once, and no reader sees one before a lower one") {
  if (!Postgres::is_installed()) return;
  const std::string url = postgres_server().create_database();
  constexpr int kWriters = 4;
  constexpr int kRows = 60;
  std::vector<std::thread> writers;
  std::vector<std::vector<std::uint64_t>> numbers(kWriters);
  std::vector<int> disorder(kWriters, 0);
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      const auto log = postgres_room_log(url);
      std::uint64_t known = 0;
      for (int n = 0; n < kRows; ++n) {
        RoomTurn turn{.room = "sale", .entry = std::to_string(writer), .after = known};
        if (log->take(turn)) return;
        numbers[static_cast<std::size_t>(writer)].push_back(turn.written);
        for (const RoomRow& row : turn.rows) {
          if (row.number != known + 1) ++disorder[static_cast<std::size_t>(writer)];
          known = row.number;
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  std::set<std::uint64_t> all;
  for (const auto& some : numbers) all.insert(some.begin(), some.end());
  CHECK(all.size() == kWriters * kRows);
  CHECK(*all.rbegin() == kWriters * kRows);
  CHECK(disorder == std::vector<int>(kWriters, 0));
}

TEST_CASE("a snapshot takes the place of the rows before it, and an older one takes none") {
  if (!Postgres::is_installed()) return;
  const std::string url = postgres_server().create_database();
  const auto log = postgres_room_log(url);
  for (int n = 0; n < 5; ++n) written(*log, "row");
  std::optional<RoomSnapshot> snapshot;
  REQUIRE(!log->read("sale", snapshot));
  CHECK_FALSE(snapshot);
  const std::string state(3'000'000, 'x');
  REQUIRE(!log->keep("sale", {4, state}));
  REQUIRE(!log->keep("sale", {2, "old"}));
  REQUIRE(!log->read("sale", snapshot));
  REQUIRE(snapshot);
  CHECK(snapshot->number == 4);
  CHECK(snapshot->bytes == state);
  // Who knows the third row alone sees that it is behind.
  const RoomTurn turn = taken(*log, {.room = "sale", .after = 1});
  REQUIRE(turn.rows.size() == 2);
  CHECK(turn.rows[0].number == 4);
  CHECK(written(*log, "row", 5).written == 6);
}

TEST_CASE("the first proxy's secret is that of all") {
  if (!Postgres::is_installed()) return;
  const std::string url = postgres_server().create_database();
  waiting::TokenSecrets first, second;
  REQUIRE(!postgres_room_log(url)->agree_on({1}, first));
  REQUIRE(!postgres_room_log(url)->agree_on({2}, second));
  CHECK(first == waiting::first_secrets({1}));
  CHECK(second == first);
}

TEST_CASE(
    "a secret takes the place of another one, which is kept beside it for a while, or at once") {
  if (!Postgres::is_installed()) return;
  using waiting::Replacement;
  using waiting::TokenSecrets;
  const std::string url = postgres_server().create_database();
  const auto log = postgres_room_log(url);
  TokenSecrets before, secrets;
  bool is_done = false;
  REQUIRE(!log->agree_on({1}, before));
  const waiting::Time now = written(*log, "a").rows.at(0).time;
  REQUIRE(!log->replace({Replacement::gradual, {2}}, Milliseconds(30'000), secrets, is_done));
  CHECK(is_done);
  CHECK(secrets.number == 2);
  CHECK(secrets.newest == VisitorSecret{2});
  CHECK(secrets.former == VisitorSecret{1});
  CHECK(secrets.lasting == VisitorSecret{1});
  CHECK(secrets.since >= now + Milliseconds(30'000));
  CHECK(secrets.since < now + Milliseconds(90'000));
  TokenSecrets read;
  REQUIRE(!postgres_room_log(url)->read(read));
  CHECK(read == secrets);
  // The next one has to wait for the end of the former one, or makes all tokens void.
  REQUIRE(!log->replace({Replacement::gradual, {3}}, Milliseconds(0), read, is_done));
  CHECK_FALSE(is_done);
  CHECK(read == secrets);
  REQUIRE(!log->forget_former());
  REQUIRE(!log->read(read));
  CHECK(read == secrets);
  REQUIRE(!log->replace({Replacement::at_once, {4}}, Milliseconds(30'000), read, is_done));
  CHECK(is_done);
  CHECK(read.number == 3);
  CHECK(read.newest == VisitorSecret{4});
  CHECK_FALSE(read.former);
  CHECK(read.lasting == VisitorSecret{4});
  CHECK(read.since < now + Milliseconds(60'000));
}

TEST_CASE("secrets take the place of older ones when an older database took over") {
  if (!Postgres::is_installed()) return;
  const std::string url = postgres_server().create_database();
  const auto log = postgres_room_log(url);
  waiting::TokenSecrets read;
  REQUIRE(!log->agree_on({1}, read));
  waiting::TokenSecrets newer{
      .number = 3, .newest = {2}, .since = waiting::Time(Milliseconds(5)), .former = {}};
  newer.lasting = {4};
  for (const auto& former : {std::optional<HmacKey>(HmacKey{3}), std::optional<HmacKey>()}) {
    ++newer.number;
    newer.former = former;
    const auto failure = log->restore(newer);
    if (failure) FAIL(failure->text);
    REQUIRE(!log->read(read));
    CHECK(read == newer);
  }
  // Not of newer ones.
  REQUIRE(!log->restore(waiting::first_secrets({9})));
  REQUIRE(!log->read(read));
  CHECK(read == newer);
}

TEST_CASE("a waiting room of which no proxy has written for long is deleted, but for one's own") {
  if (!Postgres::is_installed()) return;
  const std::string url = postgres_server().create_database();
  const auto log = postgres_room_log(url);
  for (const char* const room : {"sale", "gone", "own"}) {
    for (int n = 0; n < 2; ++n) taken(*log, {.room = room, .entry = "row"});
    REQUIRE(!log->keep(room, {1, "state"}));
  }
  const auto is_there = [&](const std::string& room) {
    std::optional<RoomSnapshot> snapshot;
    REQUIRE(!log->read(room, snapshot));
    const bool has_rows = !taken(*log, {.room = room}).rows.empty();
    CHECK(has_rows == snapshot.has_value());
    return has_rows;
  };
  REQUIRE(!log->forget_rooms({}, Milliseconds(600'000)));
  for (const char* const room : {"sale", "gone", "own"}) CHECK(is_there(room));
  const support::Deadline deadline(support::Milliseconds{50});
  while (!deadline.passed()) taken(*log, {.room = "sale", .entry = "sign"});
  REQUIRE(!log->forget_rooms({"own"}, Milliseconds(30)));
  CHECK(is_there("sale"));
  CHECK_FALSE(is_there("gone"));
  CHECK(is_there("own"));
  // It begins anew.
  CHECK(taken(*log, {.room = "gone", .entry = "row"}).written == 1);
}

TEST_CASE("a database that hangs holds a proxy for its patience, and the log is there after it") {
  if (!Postgres::is_installed()) return;
  Postgres server;
  const std::string url = server.create_database();
  const auto log = postgres_room_log(url);
  CHECK(written(*log, "before").written == 1);
  server.freeze();
  RoomTurn turn{.room = "sale", .entry = "meanwhile"};
  const support::Deadline deadline(support::Milliseconds{8'000});
  CHECK(log->take(turn));
  CHECK_FALSE(deadline.passed());
  server.thaw();
  std::uint64_t number = 0;
  const support::Deadline again;
  while (number == 0 && !again.passed()) {
    RoomTurn next{.room = "sale", .entry = "after"};
    if (!log->take(next)) number = next.written;
  }
  CHECK(number >= 2);
}

}  // namespace
