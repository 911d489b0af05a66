// Predicted turns of a newcomer against the turns it takes without further arrivals.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.hpp"
#include "dispatch/discipline/discipline.hpp"
#include "unit/dispatch/lines.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;
using Kind = config::Discipline;

namespace {

constexpr Duration kTurn = 5ms;

// How far the prediction is off, at most, over many random queues.
double most_off(Kind kind) {
  Random random(11);
  const auto below = [&](std::uint64_t bound) { return static_cast<int>(random.next() % bound); };
  double most = 0;
  for (int round = 0; round < 300; ++round) {
    const auto d = discipline(kind, {8, 3, 1}, 50ms);
    Lines lines;
    const std::array<int, 3> count{below(30), below(30), below(30)};
    const TimePoint start = lines.now;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto id = static_cast<ClassId>(i);
      const Duration allowance = (i + 1) * 200ms, gap = (1 + below(6)) * 2ms;
      for (int k = count[i]; k > 0; --k) {  // evenly spaced until now
        lines.now = start - k * gap;
        lines.join(id, 1, lines.now + allowance);
      }
    }
    lines.now = start;
    const std::size_t mine = static_cast<std::size_t>(below(3));
    const Newcomer arrival{.traffic_class = static_cast<ClassId>(mine),
                           .ahead = static_cast<double>(count[mine]),
                           .now = lines.now,
                           .deadline = lines.now + (mine + 1) * 200ms,
                           .hold = to_seconds(kTurn),
                           .slots = 1};
    const double predicted = d->turns(arrival, lines.queues);
    const Waiter& newcomer = lines.join(arrival.traffic_class, arrival.cost, arrival.deadline);
    const Waiter* served = nullptr;
    int turns = 0;
    for (; served != &newcomer; ++turns) {
      lines.now += kTurn;
      served = &lines.serve(*d);
    }
    most = std::max(most, std::abs(predicted - turns));
  }
  return most;
}

}  // namespace

TEST_CASE("a newcomer's turns are predicted to within a few without further arrivals") {
  CHECK(most_off(Kind::pq) < 0.001);
  CHECK(most_off(Kind::rr) < 0.001);
  for (const Kind kind : {Kind::wrr, Kind::drr, Kind::wfq, Kind::edf}) {
    CAPTURE(index(kind));
    CHECK(most_off(kind) <= 2);
  }
  CHECK(most_off(Kind::aging) <= 4);  // of up to 90: two classes' waiters are counted by their age
}

TEST_CASE("earliest deadline first predicts a newcomer without a deadline by its class's last") {
  const auto edf = discipline(Kind::edf, {1, 1});
  Lines lines;
  lines.join(ClassId{0}, 1, lines.now + 50ms);
  lines.serve(*edf);
  for (int i = 0; i < 10; ++i) lines.join(ClassId{1}, 1, lines.now + 200ms);
  Newcomer arrival{.traffic_class = ClassId{0}, .now = lines.now, .hold = 0.001};
  CHECK(edf->turns(arrival, lines.queues) == 1);
  arrival.traffic_class = ClassId{1};
  arrival.ahead = 10;
  CHECK(edf->turns(arrival, lines.queues) == doctest::Approx(11).epsilon(0.02));
}

TEST_CASE("a newcomer in a hurry is not before those of its class that have time") {
  const auto edf = discipline(Kind::edf, {1, 1});
  Lines lines;
  lines.join(ClassId{0}, 1, lines.now + 300ms);
  for (int i = 0; i < 10; ++i) lines.join(ClassId{1}, 1, lines.now + 200ms);
  const Newcomer arrival{
      .traffic_class = ClassId{0}, .ahead = 1, .now = lines.now, .deadline = lines.now + 20ms};
  CHECK(edf->turns(arrival, lines.queues) == 12);
}
