// Guaranteed shares above each discipline, with the shipped defaults; min_share 0 is the negative
// control.
#include "dispatch/discipline/min_share.hpp"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <vector>

#include "config/defaults.hpp"
#include "dispatch/scheduler/scheduler.hpp"
#include "unit/dispatch/desk.hpp"
#include "unit/dispatch/shift.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;
using Kind = config::Discipline;

namespace {

constexpr std::array kAll{Kind::pq,  Kind::rr,    Kind::wrr, Kind::drr,
                          Kind::wfq, Kind::aging, Kind::edf};

// One slot, the shipped defaults; `share` in place of the default min_share of P1 and P2.
Desk desk_of(Kind discipline, std::optional<double> share = std::nullopt) {
  Desk desk;
  desk.settings = config::defaults(3).dispatch;
  desk.settings.concurrency = 1;
  desk.settings.discipline = discipline;
  desk.classes = config::default_classes();
  if (share) desk.classes[1].min_share = desk.classes[2].min_share = *share;
  return desk;
}

// By class, of `turns` turns of 10 ms after `before` others. The classes of `endless` always have
// waiters. Every request may wait for a second.
std::array<int, 3> turns_of(Desk& desk, const std::vector<ClassId>& endless, int before,
                            int turns) {
  desk.teach(10ms, kP0);
  desk.arrive(kP0);
  const auto arrive = [&](ClassId id) { desk.arrive(id, {.deadline = desk.now + 1h}); };
  for (int i = 0; i < 30; ++i)
    for (const ClassId id : endless) arrive(id);
  std::array<int, 3> counts{};
  ClassId running = kP0;
  for (int turn = 0; turn < before + turns; ++turn) {
    desk.pass(10ms);
    running = desk.release(running)->traffic_class;
    arrive(running);
    if (turn >= before) ++counts[index(running)];
  }
  return counts;
}

}  // namespace

TEST_CASE("a waiting P2 gets ten of 200 turns under endless P0, whatever the discipline") {
  for (const Kind discipline : kAll) {
    CAPTURE(index(discipline));
    Desk fresh = desk_of(discipline);
    CHECK(turns_of(fresh, {kP0, kP2}, 0, 200)[2] >= 10);
    Desk later = desk_of(discipline);  // the boost is at its most
    CHECK(turns_of(later, {kP0, kP2}, 1000, 200)[2] >= 10);
  }
  // Without the guarantee strict priority serves none, nor does the boost leave ten.
  Desk strict = desk_of(Kind::pq, 0);
  CHECK(turns_of(strict, {kP0, kP2}, 0, 200) == std::array{200, 0, 0});
  for (const Kind discipline : {Kind::wrr, Kind::drr, Kind::wfq}) {
    CAPTURE(index(discipline));
    Desk boosted = desk_of(discipline, 0);
    const auto counts = turns_of(boosted, {kP0, kP2}, 1000, 200);
    CHECK(counts[0] >= 197);
    CHECK(counts[2] >= 1);
  }
}

TEST_CASE("the guarantee adds the missing turns and no more") {
  // Strict priority: P1 and P2 get their five percent each, P0 all others.
  Desk all = desk_of(Kind::pq);
  CHECK(turns_of(all, {kP0, kP1, kP2}, 0, 2000) == std::array{1800, 100, 100});
  Desk lower = desk_of(Kind::pq);
  CHECK(turns_of(lower, {kP1, kP2}, 0, 2000) == std::array{0, 1900, 100});
  // The full boost: 80 : 3 : 1 would give P1 3.6 and P2 1.2 percent.
  for (const Kind discipline : {Kind::wrr, Kind::drr, Kind::wfq}) {
    CAPTURE(index(discipline));
    Desk boosted = desk_of(discipline);
    const auto counts = turns_of(boosted, {kP0, kP1, kP2}, 1000, 2000);
    CHECK(std::abs(counts[1] - 100) <= 1);
    CHECK(std::abs(counts[2] - 100) <= 1);
  }
}

TEST_CASE("P1 loses nothing while P2 gets more than its share") {
  // Fixed weights 8 : 3 : 1 give P2 8.3 %, equal turns 33 %.
  for (const Kind discipline : {Kind::rr, Kind::wrr, Kind::drr, Kind::wfq}) {
    CAPTURE(index(discipline));
    const auto counts = [&](std::optional<double> share) {
      Desk desk = desk_of(discipline, share);
      desk.settings.dynamic_weights = false;
      return turns_of(desk, {kP0, kP1, kP2}, 0, 2400);
    };
    CHECK(counts(std::nullopt) == counts(0));
    if (discipline != Kind::rr) CHECK(counts(0.1)[2] == 240);  // above what its weight gives it
  }
}

TEST_CASE("egress weights of 2 4 and 1 give that many turns of seven") {
  for (const Kind discipline : {Kind::wrr, Kind::drr, Kind::wfq}) {
    CAPTURE(index(discipline));
    Desk desk = desk_of(discipline);
    desk.settings.dynamic_weights = false;
    desk.classes[0].egress_weight = 2;
    desk.classes[1].egress_weight = 4;
    desk.classes[2].egress_weight = 1;
    CHECK(turns_of(desk, {kP0, kP1, kP2}, 0, 7) == std::array{2, 4, 1});
    Desk long_run = desk_of(discipline);
    long_run.settings.dynamic_weights = false;
    long_run.classes = desk.classes;
    CHECK(turns_of(long_run, {kP0, kP1, kP2}, 0, 700) == std::array{200, 400, 100});
  }
}

TEST_CASE("where the discipline shares cost the guarantee is of cost") {
  const auto low = [](Kind discipline) {
    Desk desk;
    desk.settings.discipline = discipline;
    desk.classes[0].weight = 1000;
    desk.classes[2].min_share = 0.1;
    desk.arrive(kP0);
    const auto arrive = [&](ClassId id) { desk.arrive(id, {.cost = id == kP2 ? 20.0 : 2.0}); };
    for (int i = 0; i < 5; ++i)
      for (const ClassId id : {kP0, kP2}) arrive(id);
    int count = 0;
    ClassId running = kP0;
    for (int turn = 0; turn < 910; ++turn) {
      running = desk.release(running)->traffic_class;
      arrive(running);
      count += running == kP2 ? 1 : 0;
    }
    return count;
  };
  CHECK(std::abs(low(Kind::drr) - 10) <= 1);  // 10 x 20 ms of 2000 ms
  CHECK(std::abs(low(Kind::wfq) - 91) <= 1);  // of 910 turns
}

TEST_CASE("a class that may not start saves up no turns") {
  Desk desk(2);
  desk.settings.discipline = Kind::pq;
  desk.classes[2].min_share = 0.1;
  desk.classes[2].max_inflight = 1;
  desk.arrive(kP2);
  desk.arrive(kP0);
  for (int i = 0; i < 20; ++i) desk.arrive(kP2);
  for (int i = 0; i < 20; ++i) desk.arrive(kP0);
  for (int turn = 0; turn < 100; ++turn) {  // P2 holds its one slot
    CHECK(desk.release(kP0)->traffic_class == kP0);
    desk.arrive(kP0);
  }
  CHECK(desk.release(kP2)->traffic_class == kP0);  // as if its turns began now
  int turns = 1;
  while (desk.release(kP0)->traffic_class == kP0) ++turns;
  CHECK(turns == 9);
}

TEST_CASE("reserved slots stay their class's and turns at them count") {
  Desk desk(2);
  desk.settings.discipline = Kind::pq;
  desk.classes[0].reserved = 1;
  desk.classes[2].min_share = 0.4;
  desk.arrive(kP0);
  desk.arrive(kP2);
  for (int i = 0; i < 20; ++i) desk.arrive(kP2);
  for (int i = 0; i < 60; ++i) desk.arrive(kP0);
  // The slot that P0 gives back is its own: P2 does not compete for it.
  for (int turn = 0; turn < 20; ++turn) CHECK(desk.release(kP0)->traffic_class == kP0);
  int low = 0;
  ClassId running = kP2;
  for (int turn = 0; turn < 20; ++turn) {
    running = desk.release(running)->traffic_class;
    low += running == kP2 ? 1 : 0;
  }
  CHECK(low == 8);
}

TEST_CASE("a class whose waiters time out sooner than its turn comes gets its share") {
  const auto low = [](double share) {
    Desk desk = desk_of(Kind::pq, share);
    desk.arrive(kP0);
    int count = 0;
    ClassId running = kP0;
    for (int turn = 0; turn < 200; ++turn) {
      desk.arrive(kP0);
      desk.pass(101ms);  // longer than P2's longest wait
      while (desk->expire(desk.now) != nullptr) {
      }
      desk.arrive(kP0);
      desk.arrive(kP2, {.max_wait = 100ms});
      running = desk.release(running)->traffic_class;
      count += running == kP2 ? 1 : 0;
    }
    return count;
  };
  CHECK(low(0.05) == 10);
  CHECK(low(0) == 0);
}

TEST_CASE("a turn without competition is charged to no class") {
  Desk desk = desk_of(Kind::pq);
  desk.arrive(kP2);
  for (int i = 0; i < 100; ++i) desk.arrive(kP2);
  for (int i = 0; i < 50; ++i) desk.release(kP2);  // P2 alone
  for (int i = 0; i < 60; ++i) desk.arrive(kP0);
  int turns = 1;
  ClassId running = desk.release(kP2)->traffic_class;
  while (running == kP0) {
    running = desk.release(running)->traffic_class;
    ++turns;
  }
  CHECK(turns == 19);  // two shares begin with a turn
}

TEST_CASE("a wait under strict priority is predicted by the share that bounds it") {
  const auto last = [](double share) {
    Desk desk = desk_of(Kind::pq, share);
    desk.teach(10ms, kP0);
    turns_of(desk, {kP0, kP2}, 200, 1);  // all recent turns are P0's but the guaranteed ones
    desk.arrive(kP2);
    return to_seconds(desk.last.predicted_wait.value());
  };
  // Thirty ahead of it, one turn in twenty, 10 ms each.
  CHECK(last(0.05) == doctest::Approx(31 * 20 * 0.01).epsilon(0.05));
  CHECK(last(0) > 15);  // as long as a prediction can be
}

TEST_CASE("with guaranteed shares predictions are near the wait under every discipline") {
  for (const Kind discipline : {Kind::pq, Kind::drr, Kind::wfq}) {
    CAPTURE(index(discipline));
    Desk desk(4);
    desk.settings.discipline = discipline;
    desk.settings.evict.clear();
    desk.settings.late = config::Late::process_with_tag;
    const std::array<double, 3> shares{0, 0.05, 0.05}, rates{360, 60, 60};  // of 400 per second
    std::vector<Arrival> arrivals;
    for (std::size_t kind = 0; kind < 3; ++kind) {
      desk.classes[kind].max_queue = 40;
      desk.classes[kind].min_share = shares[kind];
      const Arrival one{.traffic_class = static_cast<ClassId>(kind), .kind = kind};
      for (const Arrival& each : poisson(one, rates[kind], 60s, kind + 7)) arrivals.push_back(each);
    }
    for (const Outcome& o : Shift(desk).work(arrivals)) {
      CAPTURE(o.waited);
      CAPTURE(o.predicted);
      CHECK(std::abs(o.predicted / o.waited - 1) < 0.35);
    }
  }
}
