#include "dispatch/estimate/hold_times.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

constexpr RouteId kOne{0}, kOther{1};

struct Learned {
  HoldTimes holds{2};
  TimePoint now = TimePoint{} + 1h;

  double ms() const { return to_milliseconds(holds.of(kOne, now)); }
};

}  // namespace

TEST_CASE("nothing is known without abandoned requests, and of each route apart") {
  Learned learned;
  CHECK(learned.holds.of(kOne, learned.now) == Duration{0});
  learned.holds.outlasted(kOne, 10ms, learned.now);
  CHECK(learned.ms() == doctest::Approx(20));
  CHECK(learned.holds.of(kOther, learned.now) == Duration{0});
}

TEST_CASE("a hold that is outlasted doubles until it is long enough") {
  Learned learned;
  Duration hold = 4ms;
  int outlasted = 0;
  for (; hold < 250ms; ++outlasted) {
    learned.holds.outlasted(kOne, hold, learned.now);
    hold = learned.holds.of(kOne, learned.now);
  }
  CHECK(outlasted == 6);
  CHECK(learned.ms() == doctest::Approx(256));
}

TEST_CASE("quick abandoned requests do not shorten it, however many there are") {
  Learned learned;
  learned.holds.outlasted(kOne, 150ms, learned.now);
  for (int n = 0; n < 10'000; ++n) learned.holds.ended(kOne, 1ms, learned.now);
  CHECK(learned.ms() == doctest::Approx(300));
}

TEST_CASE("it halves in a minute, and is at least half as long again as what was seen") {
  Learned learned;
  learned.holds.outlasted(kOne, 500ms, learned.now);
  learned.now += 1min;
  CHECK(learned.ms() == doctest::Approx(500));
  learned.holds.ended(kOne, 250ms, learned.now);  // would be 375 ms
  CHECK(learned.ms() == doctest::Approx(500));
  learned.now += 1min;
  learned.holds.ended(kOne, 250ms, learned.now);
  CHECK(learned.ms() == doctest::Approx(375));
  learned.now += 20min;
  CHECK(learned.ms() < 1);
  learned.now += 10'000h;
  CHECK(learned.ms() < 1);
}

TEST_CASE("a time that goes back or never ends is no trouble") {
  Learned learned;
  learned.holds.outlasted(kOne, Duration::max() / 4, learned.now);
  CHECK(learned.holds.of(kOne, learned.now) == Duration(HoldTimes::kMost));
  learned.holds.ended(kOne, Duration::min() / 4, learned.now);
  CHECK(learned.holds.of(kOne, learned.now - 1h) == Duration(HoldTimes::kMost));
}

TEST_CASE("with thirty quick requests for each slow one few slow ones outlast their hold") {
  // The slow ones take 250 ms with a sigma of 0.3, an abandoned one each second.
  Learned learned;
  Random random(3);
  int outlasted_late = 0;
  for (int n = 0; n < 2000; ++n) {
    learned.now += 1s;
    for (int quick = 0; quick < 30; ++quick) learned.holds.ended(kOne, 4ms, learned.now);
    double normal = -6;
    for (int k = 0; k < 12; ++k) normal += random.uniform();
    const Duration takes = from_seconds(0.25 * std::exp(0.3 * normal));
    const Duration hold = std::max(learned.holds.of(kOne, learned.now), Duration(4ms));
    if (takes <= hold) {
      learned.holds.ended(kOne, takes, learned.now);
    } else {
      learned.holds.outlasted(kOne, hold, learned.now);
      if (n >= 100) ++outlasted_late;
    }
    CHECK(hold < 2s);
  }
  CHECK(outlasted_late < 1900 * 0.02);
}

TEST_CASE("behind its timeout a request keeps its slot for as long again, within bounds") {
  CHECK(hold_past_timeout(100ms) == 2s);
  CHECK(hold_past_timeout(3s) == 3s);
  CHECK(hold_past_timeout(30s) == 10s);
}
