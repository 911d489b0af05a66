#include "resilience/retry_budget.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>

#include "base/random.hpp"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1000)};

struct Storm {
  double amplification = 0;  // attempts per request while nothing succeeded
  double healed = 0;         // share of the last requests that succeeded at once
};

// Eight requests every 100 ms onto a backend with a capacity of ten, which loses the excess and as
// much of the rest again (work for clients that have given up). Nothing succeeds from second 20
// to 30. Every failure is retried after 100 ms, three times at most.
Storm storm(RetryBudget* budget) {
  Random random(11);
  std::deque<int> due;  // how many times each has been tried
  std::deque<int> next;
  int requests = 0;
  int attempts = 0;
  Storm result;
  int late_requests = 0;
  int late_successes = 0;
  for (int tick = 0; tick < 900; ++tick) {
    const TimePoint now = kStart + milliseconds(100 * tick);
    const bool down = tick >= 200 && tick < 300;
    due.insert(due.end(), 8, 0);
    const double offered = static_cast<double>(due.size());
    const double fits = std::min(1.0, 10 / offered);
    const double succeeds = down ? 0 : fits * fits;
    for (const int tried : due) {
      if (tried == 0 && budget) budget->on_request(now);
      if (down) ++attempts;
      if (down && tried == 0) ++requests;
      const bool success = random.uniform() < succeeds;
      if (tick >= 800 && tried == 0) {
        ++late_requests;
        late_successes += success;
      }
      if (!success && tried < 3 && (!budget || budget->try_retry(now))) next.push_back(tried + 1);
    }
    due.swap(next);
    next.clear();
  }
  result.amplification = static_cast<double>(attempts) / requests;
  result.healed = static_cast<double>(late_successes) / late_requests;
  return result;
}

}  // namespace

TEST_CASE("a retry storm multiplies the load and outlives its cause unless there is a budget") {
  const Storm naive = storm(nullptr);
  CHECK(naive.amplification > 3.8);
  CHECK(naive.healed < 0.5);

  RetryBudget budget({.ratio = 0.2, .min_per_second = 1, .window = seconds(10)});
  const Storm bounded = storm(&budget);
  // 80 requests a second: 0.2 of them and one a second more, and at first what had been saved up.
  CHECK(bounded.amplification <= 1 + 0.2 + 1 / 80.0 + 1e-9);
  CHECK(bounded.amplification > 1.15);
  CHECK(bounded.healed == 1);
}

TEST_CASE("retries in every window are at most the share of its requests and the minimum") {
  constexpr double kRatio = 0.3;
  constexpr double kMinimum = 2;  // of a window of two seconds
  RetryBudget budget({.ratio = kRatio, .min_per_second = 1, .window = seconds(2)});
  Random random(5);
  std::deque<TimePoint> requests;
  std::deque<TimePoint> retries;
  TimePoint now = kStart;
  int refused = 0;
  double closest = 1e9;
  for (int i = 0; i < 50'000; ++i) {
    const bool quiet = i / 500 % 3 == 0;
    now += milliseconds(static_cast<int>(random.uniform() * (quiet ? 200 : 10)));
    // Ten slices, the present one last.
    const TimePoint begin = now - now.time_since_epoch() % milliseconds(200) - milliseconds(1800);
    while (!requests.empty() && requests.front() < begin) requests.pop_front();
    while (!retries.empty() && retries.front() < begin) retries.pop_front();
    if (random.uniform() < 0.5) {
      budget.on_request(now);
      requests.push_back(now);
    } else if (budget.try_retry(now)) {
      retries.push_back(now);
      closest = std::min(closest, kRatio * static_cast<double>(requests.size()) + kMinimum -
                                      static_cast<double>(retries.size()));
    } else {
      ++refused;
    }
  }
  CHECK(refused > 1000);
  CHECK(closest >= -1e-9);
  CHECK(closest < 0.3);  // the whole of it is allowed
}

TEST_CASE("without requests a budget allows its minimum and no more") {
  RetryBudget budget({.ratio = 0.2, .min_per_second = 3, .window = seconds(10)});
  int allowed = 0;
  for (int i = 0; i < 100'000; ++i) allowed += budget.try_retry(kStart + milliseconds(i));
  // 100 s: ten windows of 30, and one begun by the slice that leaves early.
  CHECK(allowed >= 300);
  CHECK(allowed <= 330);
}

TEST_CASE("a request funds its share of retries while it is in the window") {
  RetryBudget budget({.ratio = 0.5, .min_per_second = 0, .window = seconds(10)});
  CHECK_FALSE(budget.try_retry(kStart));
  budget.on_request(kStart);
  CHECK(budget.balance(kStart) == 0.5);
  CHECK_FALSE(budget.try_retry(kStart));
  budget.on_request(kStart);
  CHECK(budget.try_retry(kStart));
  CHECK_FALSE(budget.try_retry(kStart));
  for (int i = 0; i < 10; ++i) budget.on_request(kStart);
  CHECK(budget.balance(kStart + seconds(9)) == 5);
  CHECK(budget.balance(kStart + seconds(10)) == 0);
  CHECK_FALSE(budget.try_retry(kStart + seconds(10)));
}

TEST_CASE("retries in the background leave half of the budget to those that clients wait for") {
  RetryBudget budget({.ratio = 0, .min_per_second = 1, .window = seconds(10)});
  int allowed = 0;
  for (int i = 0; i < 20; ++i) allowed += budget.try_background_retry(kStart);
  CHECK(allowed == 5);
  for (int i = 0; i < 20; ++i) allowed += budget.try_retry(kStart);
  CHECK(allowed == 10);
  CHECK_FALSE(budget.try_background_retry(kStart));
  // The smallest budget that allows any retry allows one of these.
  RetryBudget small({.ratio = 0, .min_per_second = 0.1, .window = seconds(10)});
  CHECK(small.try_background_retry(kStart));
  CHECK_FALSE(small.try_background_retry(kStart));
  RetryBudget none({.ratio = 0, .min_per_second = 0, .window = seconds(10)});
  CHECK_FALSE(none.try_background_retry(kStart));
}

TEST_CASE("as long as retries succeed any number may be sent, one after another") {
  RetryBudget budget({.ratio = 0, .min_per_second = 0.1, .window = seconds(10)});
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(budget.try_background_retry(kStart));
    budget.give_back(kStart);
  }
  REQUIRE(budget.try_background_retry(kStart));
  // The control: one that fails is not given back.
  CHECK_FALSE(budget.try_background_retry(kStart));
  CHECK_FALSE(budget.try_retry(kStart));
}

TEST_CASE("limits that make no sense allow nothing") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const double ratio : {0.0, -1.0, kNan}) {
    for (const Duration window : {Duration(seconds(10)), Duration::zero(), Duration(-1)}) {
      RetryBudget budget({.ratio = ratio, .min_per_second = ratio, .window = window});
      for (int i = 0; i < 100; ++i) budget.on_request(kStart);
      CHECK_FALSE(budget.try_retry(kStart));
    }
  }
  RetryBudget no_window({.ratio = 0, .min_per_second = 100, .window = Duration(-1)});
  CHECK_FALSE(no_window.try_retry(kStart));
}

}  // namespace spillway::resilience
