// A retry budget: retries are limited to a share of the recent requests. When everything fails, one
// retry per failure multiplies the load on a failing upstream; the budget bounds it to (1 + ratio)
// times the requests.
//
// The idea and the defaults are from Finagle's RetryBudget (20 % and ten a second, over ten
// seconds) and Envoy's `retry_budget`; see Brooker, "Timeouts, retries, and backoff with jitter",
// Amazon Builders' Library, 2019, for why counting is better than retrying each call n times.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"
#include "resilience/sliding_count.hpp"

namespace spillway::resilience {

// One owner. In the window that ends with an allowed retry there are at most ratio * requests +
// min_per_second * window retries; the window is ten slices (sliding_count.hpp). An idle budget
// therefore allows the minimum of a whole window at once. Fixed memory.
class RetryBudget {
 public:
  // Negative figures and NaN count as 0; all 0: no retries.
  struct Limits {
    double ratio = 0.2;          // retries per request
    double min_per_second = 10;  // so that callers with few requests may retry
    Duration window = std::chrono::seconds(10);
  };

  explicit RetryBudget(const Limits& limits)
      : ratio_(positive(limits.ratio)),
        minimum_(positive(limits.min_per_second) * positive(to_seconds(limits.window))),
        requests_(limits.window),
        retries_(limits.window) {}

  // A request's first attempt only: its retries must not fund further retries.
  void on_request(TimePoint now) { requests_.add(now); }

  // Returns whether the retry may be sent; if so, it is counted.
  bool try_retry(TimePoint now) {
    if (!(balance(now) >= 1)) return false;
    retries_.add(now);
    return true;
  }

  // The same for a retry that no client waits for. Half of the window's allowance is left to
  // requests with a waiting client; but one per window is allowed if any is.
  bool try_background_retry(TimePoint now) {
    const auto retries = static_cast<double>(retries_.total(now));
    const double allowed = balance(now) + retries;
    if (retries > 0 && retries + 1 > allowed / 2) return false;
    return try_retry(now);
  }

  // An allowed retry has succeeded, or was not sent: others may be sent in its place. The budget
  // need not limit retries that work, and there may be many requests to send again.
  void give_back(TimePoint now) { retries_.take_back(now); }

  // The retries left. Negative if requests have left the window before the retries they funded.
  double balance(TimePoint now) {
    return ratio_ * static_cast<double>(requests_.total(now)) + minimum_ -
           static_cast<double>(retries_.total(now));
  }

 private:
  static double positive(double figure) { return figure > 0 ? figure : 0; }

  double ratio_;
  double minimum_;
  SlidingCount requests_;
  SlidingCount retries_;
};

}  // namespace spillway::resilience
