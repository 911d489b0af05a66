// The log of waiting rooms in a real PostgreSQL.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "store/room_log.hpp"
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
  VisitorSecret first{1};
  VisitorSecret second{2};
  REQUIRE(!postgres_room_log(url)->agree_on(first));
  REQUIRE(!postgres_room_log(url)->agree_on(second));
  CHECK(first == VisitorSecret{1});
  CHECK(second == first);
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
