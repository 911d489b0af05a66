// The same arrivals under different disciplines, in simulated time.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"
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

void append(std::vector<Arrival>& all, const std::vector<Arrival>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::array<Outcome, 3> work(Desk& desk, const std::vector<Arrival>& arrivals) {
  return Shift(desk).work(arrivals);
}

}  // namespace

TEST_CASE("with endless P0 ten P2 are through within 200 turns except by strict priority") {
  const auto low_of_200 = [](Kind discipline) {
    Desk desk;
    desk.settings.discipline = discipline;
    for (int i = 0; i < 21; ++i) desk.arrive(kP0);
    for (int i = 0; i < 10; ++i) desk.arrive(kP2);
    int low = 0;
    ClassId running = kP0;
    for (int i = 0; i < 200; ++i) {
      desk.arrive(kP0);
      desk.pass(10ms);
      running = desk.release(running)->traffic_class;
      low += running == kP2 ? 1 : 0;
    }
    return low;
  };
  CHECK(low_of_200(Kind::pq) == 0);
  for (const Kind discipline : {Kind::rr, Kind::wrr, Kind::drr, Kind::wfq})
    CHECK(low_of_200(discipline) == 10);
}

TEST_CASE("no discipline runs more than three on three slots with random completions") {
  for (const Kind discipline : kAll) {
    CAPTURE(index(discipline));
    Desk desk(3);
    desk.settings.discipline = discipline;
    Random random(6);
    std::vector<Waiter*> running;
    const auto note = [&](Waiter* waiter) {
      if (waiter == nullptr || waiter->state != Waiter::State::granted) return;
      running.push_back(waiter);
      REQUIRE(running.size() <= 3);
      REQUIRE(desk->running() == running.size());
    };
    std::size_t most = 0;
    for (int i = 0; i < 5000; ++i) {
      desk.pass(1ms);
      if (running.empty() || random.next() % 2 == 0) {
        note(&desk.arrive(static_cast<ClassId>(random.next() % 3)));
      } else {
        const std::size_t k = random.next() % running.size();
        const ClassId id = running[k]->traffic_class;
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(k));
        note(desk.release(id));
      }
      most = std::max(most, running.size());
    }
    CHECK(most == 3);
  }
}

TEST_CASE("earliest deadline first misses fewer deadlines than fair shares and one queue") {
  // P0 has time and P2 has none to lose: where weights and deadlines disagree.
  const auto misses = [](Kind discipline, bool one_queue) {
    Desk desk(2);
    desk.settings.discipline = discipline;
    desk.settings.late = config::Late::process_with_tag;
    for (auto& c : desk.classes) c.max_queue = 100000;
    const std::array<Duration, 3> deadlines{1s, 300ms, 60ms};
    std::vector<Arrival> arrivals;
    for (std::size_t kind = 0; kind < 3; ++kind)
      append(arrivals, poisson({.traffic_class = one_queue ? kP0 : static_cast<ClassId>(kind),
                                .kind = kind,
                                .deadline = deadlines[kind]},
                               63, 60s, kind + 1));  // 189/s of 200/s
    std::uint64_t late = 0;
    for (const Outcome& outcome : work(desk, arrivals)) late += outcome.late;
    return late;
  };
  const auto edf = misses(Kind::edf, false);
  CHECK(misses(Kind::wfq, false) > 10 * edf);
  CHECK(misses(Kind::wfq, true) > 10 * edf);
}

TEST_CASE("aging lets the oldest P2 through within its bound where strict priority never does") {
  // P0 alone could fill the upstream twice; it waits for 100 ms at most.
  const auto low = [](Kind discipline) {
    Desk desk(1);
    desk.settings.discipline = discipline;
    desk.settings.aging_half_life = 200ms;
    auto arrivals = poisson({.traffic_class = kP0, .kind = 0, .max_wait = 100ms}, 200, 60s, 1);
    append(arrivals, poisson({.traffic_class = kP2, .kind = 2, .max_wait = 30s}, 0.4, 30s, 2));
    return work(desk, arrivals)[2];
  };
  const Outcome aging = low(Kind::aging), strict = low(Kind::pq);
  // 200 ms (8 (1 + 100 ms / 200 ms) - 1) = 2.2 s and one slot's time for the one that runs.
  CHECK(aging.in_time == aging.offered);
  CHECK(aging.longest_wait > 1s);
  CHECK(aging.longest_wait <= 2200ms + 10ms);
  CHECK(strict.in_time <= 1);
}

TEST_CASE("a spike of bulk work kills P0 in one queue and not with fair shares") {
  const auto top = [](bool one_queue) {
    Desk desk(8);  // 800/s
    desk.settings.evict.clear();
    std::vector<Arrival> arrivals = poisson(
        {.traffic_class = kP0, .kind = 0, .deadline = 200ms, .max_wait = 100ms}, 100, 20s, 1);
    append(arrivals, poisson({.traffic_class = one_queue ? kP0 : kP2,
                              .kind = 2,
                              .deadline = 200ms,
                              .max_wait = 100ms},
                             4000, 20s, 2));
    return work(desk, arrivals)[0].success();
  };
  CHECK(top(false) >= 0.999);
  CHECK(top(true) < 0.5);
}

namespace {

// Three classes on 400 slots/s, overloaded from P1 or P2 down; none is refused on a prediction.
std::array<Outcome, 3> overloaded(Kind discipline, const std::array<double, 3>& rates,
                                  const std::array<Duration, 3>& holds,
                                  Milliseconds half_life = 200ms) {
  Desk desk(4);
  desk.settings.discipline = discipline;
  desk.settings.aging_half_life = half_life;
  desk.settings.evict.clear();
  desk.settings.late = config::Late::process_with_tag;
  for (auto& c : desk.classes) c.max_queue = 40;
  const std::array<Duration, 3> deadlines{200ms, 300ms, 500ms};
  std::vector<Arrival> arrivals;
  for (std::size_t kind = 0; kind < 3; ++kind)
    append(arrivals, poisson({.traffic_class = static_cast<ClassId>(kind),
                              .kind = kind,
                              .hold = holds[kind],
                              .deadline = deadlines[kind],
                              .cost = to_milliseconds(holds[kind])},
                             rates[kind], 60s, kind + 7));
  return work(desk, arrivals);
}

bool near(double predicted, double waited) { return std::abs(predicted / waited - 1) < 0.3; }

}  // namespace

TEST_CASE("predictions are near what the wait turns out to be under every discipline") {
  for (const Kind discipline : kAll) {
    CAPTURE(index(discipline));
    const auto outcomes = overloaded(discipline, {100, 200, 300}, {10ms, 10ms, 10ms});
    for (const Outcome& o : outcomes) CHECK(near(o.predicted, o.waited));
    CHECK(outcomes[2].off < 0.35 * outcomes[2].waited);  // each one, where waits are long
  }
  // What one discipline predicts is far from what another does.
  const auto pq = overloaded(Kind::pq, {100, 200, 300}, {10ms, 10ms, 10ms});
  const auto rr = overloaded(Kind::rr, {100, 200, 300}, {10ms, 10ms, 10ms});
  CHECK_FALSE(near(pq[0].predicted, rr[0].waited));
  CHECK_FALSE(near(rr[1].predicted, pq[1].waited));
}

TEST_CASE("aging predicts which waiters pass P2 and which it has outscored") {
  // After 140 ms P2 has the score of a P0 that just arrived; it waits for longer.
  const auto outcomes = overloaded(Kind::aging, {100, 200, 300}, {10ms, 10ms, 10ms}, 20ms);
  for (const Outcome& o : outcomes) {
    CAPTURE(o.waited);
    CAPTURE(o.predicted);
    CHECK(near(o.predicted, o.waited));
  }
}

TEST_CASE("deficit round robin predicts in cost where requests of classes differ") {
  const auto outcomes = overloaded(Kind::drr, {150, 400, 100}, {2ms, 4ms, 40ms});
  // P0 waits only for a slot in use, for an unknown time.
  for (const std::size_t i : {1, 2}) CHECK(near(outcomes[i].predicted, outcomes[i].waited));
  CHECK(outcomes[0].waited < 0.05 * outcomes[2].waited);
}

TEST_CASE("with the boost at its most every class keeps its share under endless P0") {
  const auto served = [](Kind discipline) {
    Desk desk;
    desk.settings.discipline = discipline;
    desk.settings.dynamic_weights = true;
    desk.teach(10ms, kP0);
    desk.arrive(kP0);
    for (int i = 0; i < 100; ++i)
      for (const ClassId id : {kP0, kP1, kP2}) desk.arrive(id);
    std::array<double, 3> counts{};
    ClassId running = kP0;
    for (int turn = -100; turn < 13200; ++turn) {
      desk.pass(10ms);
      running = desk.release(running)->traffic_class;
      desk.arrive(running);
      if (turn >= 0) counts[index(running)] += 1;  // before, the boost rises
    }
    if (discipline != Kind::pq) CHECK(desk->weight(kP0) == 10 * 8);
    return counts;
  };
  for (const Kind discipline : {Kind::wrr, Kind::drr, Kind::wfq}) {
    CAPTURE(index(discipline));
    const auto counts = served(discipline);
    CHECK(counts[1] == doctest::Approx(13200 * 3 / (10 * 8 + 3 + 1.0)).epsilon(0.02));
    CHECK(counts[2] == doctest::Approx(13200 * 1 / (10 * 8 + 3 + 1.0)).epsilon(0.02));
  }
  CHECK(served(Kind::pq)[0] == 13200);  // a boost without bound
}

TEST_CASE("what shares by no weights has nothing boosted") {
  for (const Kind discipline : {Kind::pq, Kind::rr, Kind::aging, Kind::edf}) {
    Desk desk;
    desk.settings.discipline = discipline;
    desk.settings.dynamic_weights = true;
    desk.teach(1s, kP0);
    for (int i = 0; i < 100; ++i) {
      desk.pass(10ms);
      desk.arrive(kP0);
    }
    CHECK(desk->weight(kP0) == 8);
  }
}

TEST_CASE("a cost that is no cost counts as one millisecond") {
  Desk desk;
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(desk.arrive(kP1, {.cost = 2.5}).cost == 2.5);
  for (const double cost : {0.0, -3.0, infinity, std::nan("")})
    CHECK(desk.arrive(kP1, {.cost = cost}).cost == 1);
}
