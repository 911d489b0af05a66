// A token bucket that threads share without a lock: it fills with `rate` tokens per second up to
// `burst`; each admitted request takes one.
//
// It is the generic cell rate algorithm (ITU-T I.371, annex A, virtual scheduling): all the state
// is the theoretical arrival time (TAT), the moment at which the bucket would be full again,
// in one atomic integer. In no window of time t does it pass more than burst + rate * t.
//
// The rate and the burst are arguments, so that the state outlives a change of plan. After a change
// of rate the bucket may hold up to one burst more than before, and it never owes more than an
// empty bucket, except for kSkew.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "base/time.hpp"

namespace spillway::resilience {

// rate: tokens per second. Zero, negative and NaN: nothing passes. The time per token is rounded up
// to 1/16 ns (at 10^6 per second at most 0.007 % too slow, never too fast) and is at most about
// four years, as is the time to fill a bucket.
// burst: the tokens of a full bucket. Less than 1 and NaN count as 1.
// now: of any thread; it may be a little behind another thread's.
class TokenBucket {
 public:
  // A clock that is further behind is taken for a change of plan.
  static constexpr Duration kSkew = std::chrono::seconds(1);

  bool try_take(double rate, double burst, TimePoint now) {
    if (!(rate > 0)) return false;
    const std::int64_t token = ticks_per_token(rate);
    const std::int64_t full = ticks_to_fill(token, burst);
    const std::uint64_t present = ticks(now);
    std::uint64_t tat = tat_.load(std::memory_order_relaxed);
    for (;;) {
      const std::int64_t owed = owed_ticks(tat, present);
      const bool pass = owed <= full - token;
      if (!pass && owed <= full + ticks(kSkew)) return false;
      const std::uint64_t next = present + static_cast<std::uint64_t>(pass ? owed + token : full);
      if (tat_.compare_exchange_weak(tat, next, std::memory_order_relaxed)) return pass;
    }
  }

  // Returns a token that was taken but not used; a bucket that is full by then stays full.
  void give_back(double rate) {
    if (!(rate > 0)) return;
    const auto token = static_cast<std::uint64_t>(ticks_per_token(rate));
    std::uint64_t tat = tat_.load(std::memory_order_relaxed);
    while (tat != kUntouched &&
           !tat_.compare_exchange_weak(tat, tat - token, std::memory_order_relaxed)) {
    }
  }

  // Tokens in the bucket, in [0, burst].
  double available(double rate, double burst, TimePoint now) const {
    if (!(rate > 0)) return 0;
    const std::int64_t token = ticks_per_token(rate);
    const std::int64_t full = ticks_to_fill(token, burst);
    const std::int64_t owed = owed_ticks(tat_.load(std::memory_order_relaxed), ticks(now));
    return static_cast<double>(full - std::min(owed, full)) / static_cast<double>(token);
  }

 private:
  static constexpr std::uint64_t kUntouched = std::uint64_t{1} << 63;
  static constexpr std::int64_t kTicksPerNanosecond = 16;
  static constexpr std::int64_t kLongest = std::int64_t{1} << 61;  // in ticks: 4.5 years

  // Ticks wrap around after 36 years; only their differences count.
  static std::uint64_t ticks(TimePoint time) {
    const std::chrono::nanoseconds since = time.time_since_epoch();
    return static_cast<std::uint64_t>(since.count()) * kTicksPerNanosecond;
  }
  static constexpr std::int64_t ticks(std::chrono::nanoseconds duration) {
    return duration.count() * kTicksPerNanosecond;
  }

  static std::int64_t ticks_per_token(double rate) {
    const double exact = std::ceil(1e9 * kTicksPerNanosecond / rate);
    if (!(exact < static_cast<double>(kLongest))) return kLongest;
    return std::max(static_cast<std::int64_t>(exact), std::int64_t{1});
  }

  static std::int64_t ticks_to_fill(std::int64_t token, double burst) {
    if (!(burst > 1)) return token;
    if (!(burst < static_cast<double>(kLongest / token))) return kLongest / token * token;
    // Whole tokens are computed exactly, so that none is lost to rounding.
    const auto whole = static_cast<std::int64_t>(burst);
    const double part = burst - static_cast<double>(whole);
    return whole * token + static_cast<std::int64_t>(part * static_cast<double>(token));
  }

  static std::int64_t owed_ticks(std::uint64_t tat, std::uint64_t present) {
    if (tat == kUntouched) return 0;
    return std::max(static_cast<std::int64_t>(tat - present), std::int64_t{0});
  }

  std::atomic<std::uint64_t> tat_{kUntouched};
};

}  // namespace spillway::resilience
