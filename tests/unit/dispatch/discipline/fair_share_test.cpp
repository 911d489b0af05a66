#include "dispatch/discipline/disciplines.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "base/random.hpp"
#include "unit/dispatch/lines.hpp"

using namespace spillway;
using namespace spillway::dispatch;

namespace {

constexpr ClassSet kAll = 0b111;

// One of `ready`, which are taken to have waiters.
ClassId serve(Discipline& share, ClassSet ready) {
  static const Queues queues;  // once: its deques are costly to make, and tests take many turns
  Waiter waiter;
  waiter.served_as = share.pick(ready, queues, TimePoint{});
  share.served(waiter, queues);
  return waiter.served_as;
}

}  // namespace

TEST_CASE("shares are within two percent of the weights over ten thousand turns") {
  const auto share = make_fair_share({8, 3, 1}, 3);
  std::array<int, 3> served{};
  for (int i = 0; i < 10000; ++i) ++served[index(serve(*share, kAll))];
  CHECK(served[0] == doctest::Approx(10000 * 8 / 12.0).epsilon(0.02));
  CHECK(served[1] == doctest::Approx(10000 * 3 / 12.0).epsilon(0.02));
  CHECK(served[2] == doctest::Approx(10000 * 1 / 12.0).epsilon(0.02));
}

TEST_CASE("shares hold for many uneven classes and over very many turns") {
  Weights weights{};
  double sum = 0;
  for (std::size_t i = 0; i < kMaxClasses; ++i) sum += weights[i] = 1.7 * double(i + 1);
  const auto share = make_fair_share(weights, kMaxClasses);
  std::array<double, kMaxClasses> served{};
  const int turns = 200000;
  for (int i = 0; i < turns; ++i) served[index(serve(*share, ~ClassSet{0}))] += 1;
  for (std::size_t i = 0; i < kMaxClasses; ++i)
    CHECK(served[i] == doctest::Approx(turns * weights[i] / sum).epsilon(0.02));
}

TEST_CASE("shares survive the restart of virtual time") {
  const auto share =
      make_fair_share({0.0001, 0.0003, 1}, 2);  // virtual time runs fast: many restarts
  std::array<int, 3> served{};
  for (int i = 0; i < 10000; ++i) ++served[index(serve(*share, 0b11))];
  CHECK(served[1] == doctest::Approx(7500).epsilon(0.02));
}

TEST_CASE("an idle class saves nothing up") {
  const auto share = make_fair_share({1, 1}, 2);
  for (int i = 0; i < 1000; ++i) CHECK(serve(*share, 0b10) == ClassId{1});
  int first = 0;
  for (int i = 0; i < 100; ++i) first += serve(*share, 0b11) == ClassId{0} ? 1 : 0;
  CHECK(first >= 49);
  CHECK(first <= 51);
}

TEST_CASE("a class whose waiters came and went is next once its share is due") {
  const auto share = make_fair_share({100, 1}, 2);
  CHECK(serve(*share, 0b11) == ClassId{0});
  CHECK(serve(*share, 0b11) == ClassId{1});
  for (int i = 0; i < 500; ++i) serve(*share, 0b01);  // class 1 had no waiter
  CHECK(serve(*share, 0b11) == ClassId{1});
}

TEST_CASE("the predicted number of turns is exact while all classes stay backlogged") {
  Random random(4);
  Lines lines;
  for (const ClassId id : {ClassId{0}, ClassId{1}, ClassId{2}}) lines.fill(id, 1000);
  for (int round = 0; round < 500; ++round) {
    const auto share = make_fair_share({8, 3, 1}, 3);
    const int warm_up = static_cast<int>(random.next() % 40);
    for (int i = 0; i < warm_up; ++i) serve(*share, kAll);
    const ClassId mine{static_cast<std::uint8_t>(random.next() % 3)};
    const int ahead = static_cast<int>(random.next() % 6);
    const double predicted =
        share->turns({.traffic_class = mine, .ahead = double(ahead)}, lines.queues);
    int turns = 0;
    for (int own = 0; own <= ahead; ++turns) own += serve(*share, kAll) == mine ? 1 : 0;
    REQUIRE(std::abs(predicted - turns) <= 2);  // rounding of equal tags
  }
}

TEST_CASE("a class with few waiters and little traffic takes few turns") {
  const auto share = make_fair_share({8, 3, 1}, 3);
  for (int i = 0; i < 500; ++i) serve(*share, 0b100);
  // By weight, class 0 could take eight of its turns before each of class 2.
  Newcomer arrival;
  arrival.traffic_class = ClassId{2};
  arrival.ahead = 3;
  Lines lines;
  lines.fill(ClassId{0}, 1);
  CHECK(share->turns(arrival, lines.queues) < 6);
  lines.fill(ClassId{0}, 99);
  CHECK(share->turns(arrival, lines.queues) > 24);
}
