#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "jobs/rotor.hpp"

using namespace spillway;
using namespace spillway::jobs;

namespace {

const WallTime kNow = WallTime(std::chrono::hours(500'000));

// A store of which only the number of jobs in each lane matters.
struct Backlog {
  std::map<Lane, std::size_t> jobs{};
  Rotor rotor{};
  std::size_t room = 64;
  std::size_t lanes = 1;       // that are asked at a time
  std::vector<Lane> pulled{};  // a lane for each job, in order

  void put(const std::string& route, std::uint32_t tenant, std::size_t count) {
    const Lane lane{0, route, TenantId{tenant}};
    jobs[lane] += count;
    rotor.add(lane, kNow);
  }

  // As many jobs as are asked for, or as there are.
  void pull(std::size_t count) {
    while (pulled.size() < count) {
      const std::vector<Rotor::Turn> turns = ask(count - pulled.size());
      if (turns.empty()) return;
      for (const Rotor::Turn& turn : turns) {
        const std::size_t taken = std::min(turn.limit, jobs[turn.lane]);
        jobs[turn.lane] -= taken;
        pulled.insert(pulled.end(), taken, turn.lane);
        rotor.took(turn, taken);
      }
    }
  }

  // Each route has room for `room` jobs.
  std::vector<Rotor::Turn> ask(std::size_t most) {
    std::vector<Rotor::Turn> turns;
    std::map<std::string, std::size_t> asked;
    while (turns.size() < lanes && most > 0) {
      auto turn = rotor.next(
          kNow, most, [&](const std::string& route) { return room - asked[route]; },
          lanes - turns.size());
      if (!turn) break;
      most -= turn->limit;
      asked[turn->lane.route] += turn->limit;
      turns.push_back(*std::move(turn));
    }
    return turns;
  }

  std::size_t first(const std::string& route, std::uint32_t tenant) const {
    const Lane lane{0, route, TenantId{tenant}};
    return static_cast<std::size_t>(std::find(pulled.begin(), pulled.end(), lane) - pulled.begin());
  }
  std::size_t share(const std::string& route) const {
    return static_cast<std::size_t>(std::count_if(
        pulled.begin(), pulled.end(), [&](const Lane& lane) { return lane.route == route; }));
  }
};

}  // namespace

TEST_CASE(
    "a tenant with a million jobs does not delay another's first job by more than a quantum") {
  Backlog backlog;
  backlog.put("orders", 1, 1'000'000);
  backlog.pull(100);
  backlog.put("orders", 2, 1);
  backlog.pull(200);
  CHECK(backlog.first("orders", 2) <= 100 + Rotor::kQuantum);

  // negative control: one queue in order of time, in which the million came first
  std::deque<std::uint32_t> queue(1'000'000, 1);
  queue.push_back(2);
  const auto first = std::find(queue.begin(), queue.end(), 2u) - queue.begin();
  CHECK(first == 1'000'000);
}

TEST_CASE("a tenant of a route waits for a quantum of each other tenant, and no more") {
  Backlog backlog;
  for (std::uint32_t tenant = 0; tenant < 50; ++tenant) backlog.put("orders", tenant, 10'000);
  backlog.pull(1);
  backlog.put("orders", 99, 1);
  backlog.pull(2000);
  CHECK(backlog.first("orders", 99) <= 50 * Rotor::kQuantum);
  CHECK(backlog.first("orders", 99) >= 49);
}

TEST_CASE("a route with a thousand tenants gets no more than a route with one") {
  Backlog backlog;
  for (std::uint32_t tenant = 0; tenant < 1000; ++tenant) backlog.put("mails", tenant, 1000);
  backlog.put("orders", 1, 100'000);
  backlog.pull(20'000);
  CHECK(backlog.share("orders") == doctest::Approx(10'000).epsilon(0.01));

  // negative control: rounds over tenants alone, in which a route counts as often as it has any
  Backlog flat;
  for (std::uint32_t tenant = 0; tenant < 1000; ++tenant) flat.put("all", tenant, 1000);
  flat.put("all", 1001, 100'000);
  flat.pull(20'000);
  const auto others = std::count_if(flat.pulled.begin(), flat.pulled.end(),
                                    [](const Lane& lane) { return lane.tenant == TenantId{1001}; });
  CHECK(others <= 32);
}

TEST_CASE("shares stay even when rooms and batches cut turns short") {
  for (const std::size_t room : {1u, 3u, 5u, 7u, 15u, 17u}) {
    Backlog backlog;
    backlog.room = room;
    for (std::uint32_t tenant = 0; tenant < 4; ++tenant) backlog.put("orders", tenant, 100'000);
    backlog.pull(16'000);
    CAPTURE(room);
    for (std::uint32_t tenant = 0; tenant < 4; ++tenant) {
      const auto had =
          std::count_if(backlog.pulled.begin(), backlog.pulled.end(),
                        [&](const Lane& one) { return one.tenant == TenantId{tenant}; });
      CHECK(had >= 4000 - static_cast<int>(Rotor::kQuantum));
      CHECK(had <= 4000 + static_cast<int>(Rotor::kQuantum));
    }
  }
}

TEST_CASE("a route that was held up for want of room is not owed the turns that it missed") {
  Backlog backlog;
  backlog.put("orders", 1, 100'000);
  backlog.put("mails", 1, 100'000);
  const auto but_orders = [](const std::string& route) {
    return std::size_t{route == "orders" ? 0u : 64u};
  };
  for (int i = 0; i < 1000; ++i) {
    const auto turn = backlog.rotor.next(kNow, 64, but_orders);
    REQUIRE(turn);
    CHECK(turn->lane.route == "mails");
    backlog.rotor.took(*turn, turn->limit);
  }
  backlog.pull(3200);
  CHECK(backlog.share("orders") == doctest::Approx(1600).epsilon(0.02));
}

TEST_CASE("shares stay even when many lanes are asked at a time, of which some have little") {
  for (const std::size_t room : {8u, 64u, 300u}) {
    Backlog backlog;
    backlog.room = room;
    backlog.lanes = Rotor::kMostTurns;
    CAPTURE(room);
    // Of one route three lanes without end, and one that has a job now and then.
    for (std::uint32_t tenant = 0; tenant < 3; ++tenant) backlog.put("orders", tenant, 100'000);
    const Lane light{0, "orders", TenantId{7}};
    std::size_t most_waiting = 0;
    std::map<Lane, int> had;
    for (int n = 0; n < 1000; ++n) {
      backlog.put("orders", 7, 1);
      backlog.pull(backlog.pulled.size() + 40);
      most_waiting = std::max(most_waiting, backlog.jobs[light]);
    }
    CHECK(most_waiting <= 2);
    for (const Lane& lane : backlog.pulled) ++had[lane];
    const int even = had[Lane{0, "orders", TenantId{0}}];
    for (std::uint32_t tenant = 0; tenant < 3; ++tenant)
      CHECK(std::abs(had[Lane{0, "orders", TenantId{tenant}}] - even) <= 2 * int{Rotor::kQuantum});
  }
}

TEST_CASE("lanes of one job each, asked many at a time, get as much as a route of one lane") {
  Backlog backlog;
  backlog.lanes = Rotor::kMostTurns;
  backlog.put("orders", 1, 100'000);
  for (std::uint32_t tenant = 0; tenant < 20'000; ++tenant) backlog.put("mails", tenant, 1);
  backlog.pull(20'000);
  // What was asked for and did not come is refunded, so it evens out, but for a batch's.
  CHECK(backlog.share("orders") == doctest::Approx(10'000).epsilon(0.05));
}

TEST_CASE("lanes of one job each are asked many at a time") {
  const auto batches_of = [](std::size_t lanes) {
    Backlog backlog;
    backlog.lanes = lanes;
    for (std::uint32_t tenant = 0; tenant < 1600; ++tenant) backlog.put("mails", tenant, 1);
    int batches = 0;
    for (; backlog.rotor.lanes() > 0; ++batches)
      for (const Rotor::Turn& turn : backlog.ask(1000)) backlog.rotor.took(turn, 1);
    return batches;
  };
  // Each turn asks for more than one, until the last has answered.
  CHECK(batches_of(16) <= 220);
  CHECK_MESSAGE(batches_of(1) >= 1600, "negative control");
}

TEST_CASE("every job is pulled once, whatever comes in between") {
  for (const std::size_t lanes : {std::size_t{1}, Rotor::kMostTurns}) {
    Backlog backlog;
    backlog.lanes = lanes;
    Random random(5);
    std::size_t put = 0;
    for (int i = 0; i < 20'000; ++i) {
      const std::size_t count = 1 + random.next() % 40;
      const auto kind = random.next() % 4;
      if (kind != 0) {
        backlog.pull(backlog.pulled.size() + 1 + random.next() % 60);
        continue;
      }
      backlog.put("route" + std::to_string(random.next() % 5),
                  static_cast<std::uint32_t>(random.next() % 30), count);
      put += count;
    }
    backlog.pull(put + 1);
    CHECK(backlog.pulled.size() == put);
    CHECK(backlog.rotor.lanes() == 0);
  }
}
