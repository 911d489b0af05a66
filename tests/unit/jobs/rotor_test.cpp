#include "jobs/rotor.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace spillway;
using namespace spillway::jobs;
using std::chrono::seconds;

namespace {

const WallTime kNow = WallTime(std::chrono::hours(500'000));

Lane lane(int rank, std::string route, std::uint32_t tenant = 0) {
  return {static_cast<std::uint8_t>(rank), std::move(route), TenantId{tenant}};
}

std::size_t much(const std::string&) { return 1000; }

// Routes may have room at once.
std::optional<WallTime> next_due(const Rotor& rotor) {
  return rotor.next_due([](const std::string&) { return kNow; });
}

}  // namespace

TEST_CASE("a rotor that knows no lanes has no turn") {
  Rotor rotor;
  CHECK_FALSE(rotor.next(kNow, 10, much));
  CHECK_FALSE(next_due(rotor));
  CHECK(rotor.lanes() == 0);
}

TEST_CASE("a lane has no turn before its first job is due") {
  Rotor rotor;
  rotor.add(lane(0, "orders"), kNow + seconds(5));
  CHECK(next_due(rotor) == kNow + seconds(5));
  CHECK_FALSE(rotor.next(kNow + seconds(5) - std::chrono::milliseconds(1), 10, much));
  const auto turn = rotor.next(kNow + seconds(5), 10, much);
  REQUIRE(turn);
  CHECK(turn->lane == lane(0, "orders"));
  CHECK(turn->limit == 10);
}

TEST_CASE("an earlier job brings its lane forward, a later one does not put it off") {
  Rotor rotor;
  rotor.add(lane(0, "orders"), kNow + seconds(5));
  rotor.add(lane(0, "orders"), kNow + seconds(9));
  CHECK(next_due(rotor) == kNow + seconds(5));
  rotor.add(lane(0, "orders"), kNow + seconds(2));
  CHECK(next_due(rotor) == kNow + seconds(2));
  CHECK(rotor.lanes() == 1);
}

TEST_CASE("a turn is at most a quantum, the room of its route, and what is asked for") {
  Rotor rotor;
  rotor.add(lane(0, "orders"), kNow);
  const auto limit = [&](std::size_t most, const Rotor::Room& room) {
    const auto turn = rotor.next(kNow, most, room);
    rotor.give_up(*turn);
    return turn->limit;
  };
  CHECK(limit(1000, much) == Rotor::kQuantum);
  CHECK(limit(3, much) == 3);
  CHECK(limit(1000, [](const std::string&) { return std::size_t{5}; }) == 5);
  CHECK_FALSE(rotor.next(kNow, 0, much));
}

TEST_CASE("lanes of a lower rank go first, as long as they have jobs") {
  Rotor rotor;
  rotor.add(lane(1, "exports"), kNow - seconds(60));
  rotor.add(lane(0, "orders"), kNow);
  for (int i = 0; i < 100; ++i) {
    const auto turn = rotor.next(kNow, 10, much);
    REQUIRE(turn);
    CHECK(turn->lane.rank == 0);
    rotor.took(*turn, turn->limit);
  }
  rotor.took(*rotor.next(kNow, 10, much), 0);
  CHECK(rotor.next(kNow, 10, much)->lane.rank == 1);
}

TEST_CASE("a route without room holds up neither its neighbours nor a higher rank") {
  Rotor rotor;
  rotor.add(lane(0, "orders"), kNow - seconds(60));
  rotor.add(lane(0, "mails"), kNow);
  rotor.add(lane(1, "exports"), kNow);
  const auto but_orders = [](const std::string& route) {
    return std::size_t{route == "orders" ? 0u : 10u};
  };
  auto turn = rotor.next(kNow, 10, but_orders);
  CHECK(turn->lane.route == "mails");
  rotor.took(*turn, 0);
  turn = rotor.next(kNow, 10, but_orders);
  CHECK(turn->lane.route == "exports");
  rotor.took(*turn, 0);
  CHECK_FALSE(rotor.next(kNow, 10, but_orders));
  const auto from = [](const std::string& route) {
    return route == "orders" ? std::optional(kNow + seconds(2)) : std::nullopt;
  };
  CHECK(rotor.next_due(from) == kNow + seconds(2));
  rotor.add(lane(1, "exports"), kNow + seconds(1));
  CHECK(rotor.next_due(from) == kNow + seconds(1));
  // negative control: with room it goes first
  CHECK(rotor.next(kNow, 10, much)->lane.route == "orders");
}

TEST_CASE("a lane that gave fewer jobs than asked is empty until another is seen") {
  Rotor rotor;
  rotor.add(lane(0, "orders"), kNow);
  auto turn = rotor.next(kNow, 10, much);
  rotor.took(*turn, 9);
  CHECK_FALSE(rotor.next(kNow, 10, much));
  CHECK(rotor.lanes() == 0);
  rotor.add(lane(0, "orders"), kNow);
  CHECK(rotor.next(kNow, 10, much));
}

TEST_CASE("a job that was seen while its lane was being asked is not forgotten") {
  Rotor rotor;
  rotor.add(lane(0, "orders"), kNow);
  SUBCASE("due now") {
    const auto turn = rotor.next(kNow, 10, much);
    rotor.add(lane(0, "orders"), kNow);
    rotor.took(*turn, 0);
    CHECK(rotor.next(kNow, 10, much));
  }
  SUBCASE("due later") {
    const auto turn = rotor.next(kNow, 10, much);
    rotor.add(lane(0, "orders"), kNow + seconds(8));
    rotor.took(*turn, 2);
    CHECK_FALSE(rotor.next(kNow, 10, much));
    CHECK(next_due(rotor) == kNow + seconds(8));
  }
  SUBCASE("in a refresh") {
    const auto turn = rotor.next(kNow, 10, much);
    const std::vector<Rotor::Due> all{{lane(0, "orders"), kNow + seconds(8)}};
    rotor.refresh(all);
    rotor.took(*turn, 2);
    CHECK(next_due(rotor) == kNow + seconds(8));
  }
  SUBCASE("and a refresh that has not seen it yet") {
    const auto turn = rotor.next(kNow, 10, much);
    rotor.add(lane(0, "orders"), kNow);
    rotor.refresh({});
    rotor.took(*turn, 0);
    CHECK(rotor.next(kNow, 10, much));
  }
  SUBCASE("negative control: it came with the next turn") {
    auto turn = rotor.next(kNow, 10, much);
    rotor.add(lane(0, "orders"), kNow);
    rotor.took(*turn, turn->limit);
    turn = rotor.next(kNow, 10, much);
    rotor.took(*turn, 1);
    CHECK(rotor.lanes() == 0);
  }
  SUBCASE("negative control: seen before the turn, it was among those that came") {
    rotor.add(lane(0, "orders"), kNow);
    const auto turn = rotor.next(kNow, 10, much);
    rotor.took(*turn, 2);
    CHECK_FALSE(rotor.next(kNow, 10, much));
  }
}

TEST_CASE("what the store knows takes the place of what was known") {
  Rotor rotor;
  rotor.add(lane(0, "gone"), kNow);
  rotor.add(lane(0, "stays"), kNow);
  rotor.add(lane(0, "later"), kNow);
  REQUIRE(rotor.next(kNow, 1, much));
  const std::vector<Rotor::Due> all{{lane(0, "stays"), kNow - seconds(1)},
                                    {lane(0, "later"), kNow + seconds(7)},
                                    {lane(0, "new"), kNow + seconds(3)},
                                    {lane(0, "new"), kNow + seconds(4)}};
  rotor.refresh(all);
  CHECK(rotor.lanes() == 3);
  const auto turn = rotor.next(kNow, 10, much);
  CHECK(turn->lane.route == "stays");
  rotor.took(*turn, 0);
  CHECK_FALSE(rotor.next(kNow, 10, much));
  CHECK(next_due(rotor) == kNow + seconds(3));
  CHECK(rotor.next(kNow + seconds(3), 10, much)->lane.route == "new");
  rotor.refresh({});
  CHECK(rotor.lanes() == 0);
  CHECK_FALSE(next_due(rotor));
}

TEST_CASE("what the store tells page by page is forgotten at the end of a round, not before") {
  Rotor rotor;
  const auto page = [&](const char* route, Rotor::Page which) {
    const std::vector<Rotor::Due> lanes{{lane(0, route), kNow}};
    rotor.refresh(lanes, which);
  };
  constexpr Rotor::Page kFirst{true, false}, kMiddle{false, false}, kLast{false, true};
  rotor.add(lane(0, "gone"), kNow);
  rotor.add(lane(0, "told first"), kNow);
  page("told first", kFirst);
  rotor.add(lane(0, "seen meanwhile"), kNow);
  page("told later", kMiddle);
  CHECK(rotor.lanes() == 4);
  page("told last", kLast);
  CHECK(rotor.lanes() == 4);
  CHECK_FALSE(rotor.due(lane(0, "gone")));
  CHECK(rotor.due(lane(0, "seen meanwhile")));
  // The control: it was seen before this round began.
  page("told first", kFirst);
  page("told later", kLast);
  CHECK(rotor.lanes() == 2);
  CHECK_FALSE(rotor.due(lane(0, "seen meanwhile")));
}

TEST_CASE("a turn whose lane was taken away by a refresh is answered without effect") {
  Rotor rotor;
  rotor.add(lane(0, "orders"), kNow);
  const auto turn = rotor.next(kNow, 10, much);
  rotor.refresh({});
  rotor.took(*turn, 10);
  rotor.took(*turn, 0);
  CHECK(rotor.lanes() == 0);
  rotor.add(lane(0, "orders"), kNow);
  rotor.took(*turn, 0);  // it is not its turn
  CHECK(rotor.lanes() == 1);
}

TEST_CASE("several lanes have a turn at a time, each one, and share what there is room for") {
  Rotor rotor;
  for (std::uint32_t tenant = 0; tenant < 3; ++tenant) rotor.add(lane(0, "orders", tenant), kNow);
  std::size_t room = 8;
  const auto next = [&](std::size_t lanes) {
    auto turn = rotor.next(
        kNow, 1000, [&](const std::string&) { return room; }, lanes);
    if (turn) room -= turn->limit;
    return turn;
  };
  std::vector<Rotor::Turn> turns;
  for (std::size_t lanes = 16; auto turn = next(lanes); --lanes) turns.push_back(*turn);
  REQUIRE(turns.size() == 3);
  for (std::uint32_t tenant = 0; tenant < 3; ++tenant) {
    CHECK(turns[tenant].lane == lane(0, "orders", tenant));
    CHECK(turns[tenant].limit == (tenant < 2 ? 3 : 2));
  }
  CHECK(room == 0);
  room = 100;
  CHECK_MESSAGE(!next(13), "all of them are being asked");
  rotor.took(turns[0], 3);
  rotor.took(turns[1], 0);
  SUBCASE("and those that have answered may have another") {
    const auto again = next(16);
    REQUIRE(again);
    CHECK(again->lane == lane(0, "orders", 0));
    CHECK_MESSAGE(!next(15), "the second one is empty, the third has not answered");
  }
  SUBCASE("one that was given up is as it was") {
    rotor.give_up(turns[2]);
    CHECK(rotor.lanes() == 2);
    REQUIRE(next(16));
    const auto again = next(15);
    REQUIRE(again);
    CHECK(again->lane == lane(0, "orders", 2));
    CHECK_MESSAGE(again->limit == Rotor::kQuantum, "nothing of its quantum is used");
  }
  SUBCASE("negative control: asked one by one, the first has all there is room for") {
    rotor.took(turns[2], 2);
    room = 8;
    REQUIRE(next(1));
    CHECK(room == 0);
  }
}

TEST_CASE("a lane whose turn is open holds up lower ranks, and those of other ranks do not it") {
  Rotor rotor;
  rotor.add(lane(0, "orders"), kNow);
  rotor.add(lane(1, "exports"), kNow);
  const auto turn = rotor.next(kNow, 100, much, 16);
  REQUIRE(turn);
  CHECK_MESSAGE(!rotor.next(kNow, 100, much, 15), "there may be more where that comes from");
  const auto but_orders = [](const std::string& route) {
    return std::size_t{route == "orders" ? 0u : 10u};
  };
  const auto lower = rotor.next(kNow, 100, but_orders, 15);
  REQUIRE(lower);
  CHECK(lower->lane.rank == 1);
  rotor.took(*turn, turn->limit);
  CHECK(rotor.next(kNow, 100, much, 15)->lane.rank == 0);
}

TEST_CASE("a lane that is forgotten while several have a turn does not count as asked") {
  Rotor rotor;
  for (std::uint32_t tenant = 0; tenant < 4; ++tenant) rotor.add(lane(0, "orders", tenant), kNow);
  const auto eight = [](const std::string&) { return std::size_t{8}; };
  const auto first = rotor.next(kNow, 1000, eight, 16);
  const auto second = rotor.next(kNow, 1000, eight, 16);
  REQUIRE(second);
  CHECK(first->limit == 2);
  CHECK(second->limit == 3);
  std::vector<Rotor::Due> left;
  for (std::uint32_t tenant = 1; tenant < 4; ++tenant)
    left.push_back({lane(0, "orders", tenant), kNow});
  rotor.refresh(left);  // the first one's jobs are another proxy's
  rotor.took(*first, 2);
  rotor.took(*second, 3);
  CHECK(rotor.next(kNow, 1000, eight, 16)->limit == 3);
}

TEST_CASE("it is known when a lane is due, and that one is not known") {
  Rotor rotor;
  rotor.add(lane(0, "orders"), kNow);
  CHECK(rotor.due(lane(0, "orders")) == kNow);
  CHECK_FALSE(rotor.due(lane(0, "mails")));
  const auto turn = rotor.next(kNow, 10, much);
  rotor.took(*turn, 0);
  CHECK_FALSE(rotor.due(lane(0, "orders")));
}

TEST_CASE("a rotor knows a bounded number of lanes") {
  Rotor rotor;
  for (std::uint32_t i = 0; i < Rotor::kMostLanes + 10; ++i) rotor.add(lane(0, "orders", i), kNow);
  CHECK(rotor.lanes() == Rotor::kMostLanes);
  const auto turn = rotor.next(kNow, 10, much);
  rotor.took(*turn, 0);
  CHECK(rotor.lanes() == Rotor::kMostLanes - 1);
  rotor.add(lane(0, "mails"), kNow);  // there is a place again
  CHECK(rotor.lanes() == Rotor::kMostLanes);
}
