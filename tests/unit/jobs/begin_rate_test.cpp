// How many jobs of a route may begin.
#include "jobs/begin_rate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace std::chrono_literals;

namespace spillway::jobs {
namespace {

constexpr TimePoint kNow = TimePoint{} + std::chrono::hours(1);

std::size_t take_all(BeginRate& rate, double per_second, TimePoint now) {
  rate.allow(per_second);
  std::size_t taken = 0;
  while (rate.try_take(now)) ++taken;
  return taken;
}

}  // namespace

TEST_CASE("jobs begin at the rate and what was not used in the night is not made up for") {
  BeginRate rate;
  CHECK(take_all(rate, 20, kNow) == 3);  // one, and a tenth of a second's
  CHECK(rate.next(kNow) > kNow + 49ms);
  CHECK_FALSE(rate.try_take(kNow + 49ms));
  CHECK(rate.next(kNow) < kNow + 51ms);
  CHECK(rate.try_take(rate.next(kNow)));
  CHECK(take_all(rate, 20, kNow + 1h) == 3);
  CHECK(take_all(rate, 1, kNow + 2h) == 1);
  CHECK(take_all(rate, 1000, kNow + 3h) == 101);
}

TEST_CASE("those that look every 50 ms begin at the whole rate all the same") {
  for (const double per_second : {0.5, 1.0, 7.0, 10.0, 20.0, 300.0}) {
    BeginRate rate;
    std::size_t begun = 0;
    for (TimePoint now = kNow; now < kNow + 100s; now += 50ms)
      begun += take_all(rate, per_second, now);
    CAPTURE(per_second);
    CHECK(static_cast<double>(begun) >= 100 * per_second - 1 - per_second / 10);
    CHECK(static_cast<double>(begun) <= 100 * per_second + 1 + per_second / 10);
  }
}

TEST_CASE("a job that did not begin after all leaves its token to the next") {
  BeginRate rate;
  rate.allow(1);
  CHECK(rate.try_take(kNow));
  CHECK_FALSE(rate.try_take(kNow));
  rate.give_back();
  CHECK(rate.try_take(kNow));
  CHECK_FALSE(rate.try_take(kNow));
}

TEST_CASE("soon is within a second, eight more than now at most") {
  struct Case {
    double rate;
    std::size_t full, spent;
  };
  const Case cases[] = {{0.01, 1, 0}, {0.95, 2, 0}, {1, 2, 1},
                        {5, 6, 5},    {20, 11, 8},  {1000, 109, 8}};
  for (const auto& [per_second, full, spent] : cases) {
    CAPTURE(per_second);
    BeginRate rate;
    rate.allow(per_second);
    CHECK(rate.soon(kNow) == full);
    CHECK(rate.soon_from(full, kNow) == kNow);
    CHECK_MESSAGE(rate.soon_from(full + 1, kNow) == kNever, "only if one begins");
    take_all(rate, per_second, kNow);
    CHECK(rate.soon(kNow) <= spent + 1);
    CHECK(rate.soon(kNow) >= spent);
    const TimePoint from = rate.soon_from(full, kNow);
    CHECK(from > kNow);
    CHECK(from < kNow + 100s);
    CHECK(rate.soon(from) == full);
    CHECK(rate.soon(from - 1ms) < full);
  }
}

TEST_CASE("without a rate none begins, and without a cap as many as like to") {
  BeginRate rate;
  CHECK_FALSE(rate.try_take(kNow));
  CHECK(rate.next(kNow) == kNever);
  CHECK(rate.soon(kNow) == 0);
  CHECK(rate.soon_from(1, kNow) == kNever);
  rate.give_back();
  rate.allow(BeginRate::kNoCap);
  for (int n = 0; n < 1000; ++n) CHECK(rate.try_take(kNow));
  rate.give_back();
  CHECK(rate.next(kNow) == kNow);
  CHECK(rate.soon(kNow) > 1000);
  CHECK(rate.soon_from(1000, kNow) == kNow);
  CHECK_MESSAGE(take_all(rate, 20, kNow) == 3, "no debt from then");
}

TEST_CASE("those that have begun and not ended are counted") {
  BeginRate rate;
  rate.begin();
  rate.begin();
  rate.end();
  CHECK(rate.running() == 1);
}

}  // namespace spillway::jobs
