#include "dispatch/estimate/route_latency.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "base/random.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

constexpr RouteId kOne{0}, kOther{1};

struct Learned {
  RouteLatency routes{2};
  TimePoint now = TimePoint{} + 1h;

  void teach(Duration latency, int times = 1) {
    for (int i = 0; i < times; ++i) routes.record(kOne, latency, now);
  }
  double usual() const { return to_milliseconds(routes.times(kOne, now)->usual); }
  double least() const { return to_milliseconds(routes.times(kOne, now)->least); }
};

}  // namespace

TEST_CASE("nothing is known of a route before twenty samples, and of each route apart") {
  Learned learned;
  learned.teach(40ms, 19);
  CHECK_FALSE(learned.routes.times(kOne, learned.now));
  learned.teach(40ms);
  CHECK(learned.usual() == doctest::Approx(40));
  CHECK(learned.least() == doctest::Approx(40));
  CHECK_FALSE(learned.routes.times(kOther, learned.now));
}

TEST_CASE("nearly all answers come within a time that is learned and does not get old") {
  Learned learned;
  learned.teach(40ms, 19);
  CHECK_FALSE(learned.routes.nearly_longest(kOne));
  Random random(1);
  for (int n = 0; n < 2000; ++n) {  // log-normal of median 40 ms and sigma 0.5
    double normal = -6;
    for (int k = 0; k < 12; ++k) normal += random.uniform();
    learned.teach(from_seconds(0.04 * std::exp(0.5 * normal)));
  }
  const double learned_ms = to_milliseconds(*learned.routes.nearly_longest(kOne));
  CHECK(learned_ms > 70);  // its 99th percentile is 128 ms; 64 samples say it roughly
  CHECK(learned_ms < 200);
  learned.now += 1h;
  CHECK_FALSE(learned.routes.times(kOne, learned.now));
  CHECK(to_milliseconds(*learned.routes.nearly_longest(kOne)) == learned_ms);
}

TEST_CASE("three of four answers come within the usual time, nearly all after the least") {
  Learned learned;
  Random random(11);
  int sooner = 0, before_least = 0;
  for (int i = 0; i < 20'000; ++i) {
    double normal = -6;
    for (int k = 0; k < 12; ++k) normal += random.uniform();
    const double milliseconds = 50 * std::exp(0.5 * normal);
    if (i >= 100) {
      sooner += milliseconds < learned.usual() ? 1 : 0;
      before_least += milliseconds < learned.least() ? 1 : 0;
    }
    learned.teach(from_seconds(milliseconds / 1000));
  }
  CHECK(sooner / 19'900.0 == doctest::Approx(0.75).epsilon(0.03));
  CHECK(before_least / 19'900.0 < 0.06);
}

TEST_CASE("what was known long ago is not known any more") {
  Learned learned;
  learned.teach(40ms, 100);
  learned.now += 2s;
  CHECK(learned.routes.times(kOne, learned.now));
  learned.now += 1ms;
  CHECK_FALSE(learned.routes.times(kOne, learned.now));
  learned.teach(10ms);
  CHECK(learned.routes.times(kOne, learned.now));
}

TEST_CASE("a few very slow answers do not make a route slow") {
  Learned learned;
  for (int i = 0; i < 1000; ++i) learned.teach(i % 50 == 0 ? 10s : 20ms);
  CHECK(learned.usual() < 60);
  CHECK(learned.least() < 21);
}

TEST_CASE("the usual and the least time follow a change") {
  Learned learned;
  learned.teach(20ms, 200);
  learned.teach(100ms, 500);
  CHECK(learned.usual() == doctest::Approx(100).epsilon(0.05));
  CHECK(learned.least() > 90);
  learned.teach(5ms);
  CHECK(learned.least() == doctest::Approx(5));
}

TEST_CASE("requests without an answer count as long as they were waited for, if that is long") {
  Learned learned;
  learned.routes.record_unanswered(kOne, 1s, learned.now);  // nothing to compare with
  learned.teach(20ms, 64);
  for (int i = 0; i < 300; ++i) learned.routes.record_unanswered(kOne, 1ms, learned.now);
  CHECK(learned.usual() == doctest::Approx(20));
  for (int i = 0; i < 300; ++i) learned.routes.record_unanswered(kOne, 150ms, learned.now);
  CHECK(learned.usual() > 140);
}

TEST_CASE("what nearly all need is found though no answer is waited for so long") {
  // Each request is given up when nearly all would have been answered, and counts twice as long.
  Learned learned;
  learned.teach(10ms, 64);
  Random random(5);
  int given_up = 0, given_up_late = 0;
  for (int n = 0; n < 2000; ++n) {
    double normal = -6;
    for (int k = 0; k < 12; ++k) normal += random.uniform();
    const Duration takes = from_seconds(0.3 * std::exp(0.3 * normal));
    const Duration until = *learned.routes.nearly_longest(kOne);
    if (takes <= until) {
      learned.teach(takes);
    } else {
      learned.routes.record_unanswered(kOne, 2 * until, learned.now);
      ++given_up;
      if (n >= 500) ++given_up_late;
    }
  }
  CHECK(given_up_late < 1500 * 0.04);
  CHECK(given_up < 150);
  CHECK(to_milliseconds(*learned.routes.nearly_longest(kOne)) < 1500);  // truly 600 ms
}
