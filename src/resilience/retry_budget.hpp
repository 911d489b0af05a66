// A retry budget: retries are limited to a share of the recent requests. When everything fails, a
// retry per failure multiplies the load on a failing upstream; the budget bounds it to (1 + ratio)
// times the requests.
//
// The idea and the defaults are those of Finagle's RetryBudget (20 % and ten a second, over ten
// seconds) and of Envoy's `retry_budget`; see Brooker, "Timeouts, retries, and backoff with
// jitter", Amazon Builders' Library, 2019, for why counting beats retrying each call n times.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"
#include "resilience/sliding_count.hpp"

namespace spillway::resilience {

// One owner. In the window that ends with an allowed retry the retries are never more than
// ratio * requests + min_per_second * window; the window is ten slices (sliding_count.hpp). An idle
// budget therefore allows the minimum of a whole window at once. Fixed memory.
class RetryBudget {
 public:
  // Negative figures and NaN count as 0; all 0: no retries.
  struct Limits {
    double ratio = 0.2;          // retries per request
    double min_per_second = 10;  // so that a quiet caller may retry at all
    Duration window = std::chrono::seconds(10);
  };

  explicit RetryBudget(const Limits& limits)
      : ratio_(positive(limits.ratio)),
        minimum_(positive(limits.min_per_second) * positive(to_seconds(limits.window))),
        requests_(limits.window),
        retries_(limits.window) {}

  // A request's first attempt. Not its retries: they would fund further retries.
  void on_request(TimePoint now) { requests_.add(now); }

  // True when the retry may be sent; it is then counted.
  bool try_retry(TimePoint now) {
    if (!(balance(now) >= 1)) return false;
    retries_.add(now);
    return true;
  }

  // The same for a retry that no client waits for. Half of what the window allows is left to those
  // for which one does; but one in a window is allowed if any is.
  bool try_background_retry(TimePoint now) {
    const auto retries = static_cast<double>(retries_.total(now));
    const double allowed = balance(now) + retries;
    if (retries > 0 && retries + 1 > allowed / 2) return false;
    return try_retry(now);
  }

  // A retry that was allowed has succeeded, or was not sent: others may be sent in its place. What
  // works is not what the budget is there to bound, and there may be much to be sent again.
  void give_back(TimePoint now) { retries_.take_back(now); }

  // The retries left. Negative when requests have left the window before the retries they funded.
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
