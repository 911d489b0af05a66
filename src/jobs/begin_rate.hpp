// Limits how many jobs of a route may begin in this proxy: its `rate`, or this proxy's share of it
// (CapShares). A job takes a token as it begins, whatever delayed it before. So a gate or a circuit
// that opens after a minute lets no more jobs begin per second than one that was open.
//
// Thread-safe: workers begin jobs, while the thread with the store sets the rate and pulls only as
// many as may begin soon. It outlives a change of the rate.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/time.hpp"
#include "resilience/token_bucket.hpp"

namespace spillway::jobs {

class BeginRate {
 public:
  static constexpr double kNoCap = std::numeric_limits<double>::infinity();

  // The rate in jobs per second from now on; 0: none may begin.
  void allow(double rate) { rate_.store(rate, std::memory_order_relaxed); }
  double rate() const { return rate_.load(std::memory_order_relaxed); }

  // True: the job has a token. In t seconds at most 1 + rate * (t + 0.1) jobs get one: the tenth of
  // a second allows for calls that come a little late.
  bool try_take(TimePoint now) {
    const double rate = this->rate();
    return std::isinf(rate) || bucket_.try_take(rate, burst(rate), now);
  }
  // For a job that did not begin after all.
  void give_back() {
    const double rate = this->rate();
    if (!std::isinf(rate)) bucket_.give_back(rate);
  }
  // When the next token is available; kNever: not before the rate changes.
  TimePoint next(TimePoint now) const { return at(1, rate(), now); }

  // How many tokens there will be within a second, for jobs that wait for a slot meanwhile: the
  // tokens available now, plus at most kMostAhead.
  std::size_t soon(TimePoint now) const {
    const double rate = this->rate();
    if (std::isinf(rate)) return std::numeric_limits<std::size_t>::max();
    return static_cast<std::size_t>(available(rate, now) + ahead(rate));
  }
  // When soon() will reach `jobs`, if no job begins; kNever: not before one begins or ends, or the
  // rate changes.
  TimePoint soon_from(std::size_t jobs, TimePoint now) const {
    const double rate = this->rate();
    const double wanted = static_cast<double>(jobs) - ahead(rate);
    return wanted > burst(rate) ? kNever : at(wanted, rate, now);
  }

  // Call begin() when a job has begun, and end() when it has ended.
  void begin() { running_.fetch_add(1, std::memory_order_relaxed); }
  void end() { running_.fetch_sub(1, std::memory_order_relaxed); }
  std::size_t running() const { return running_.load(std::memory_order_relaxed); }

 private:
  static constexpr double kMostAhead = 8;

  static double burst(double rate) { return 1 + rate / 10; }
  static double ahead(double rate) { return std::min(rate, kMostAhead); }
  double available(double rate, TimePoint now) const {
    return bucket_.available(rate, burst(rate), now);
  }
  TimePoint at(double tokens, double rate, TimePoint now) const {
    if (std::isinf(rate)) return now;
    if (!(rate > 0)) return kNever;
    const double missing = tokens - available(rate, now);
    return missing > 0 ? now + from_seconds(missing / rate) + std::chrono::microseconds(1) : now;
  }

  std::atomic<double> rate_{0};
  resilience::TokenBucket bucket_;
  std::atomic<std::size_t> running_{0};
};

}  // namespace spillway::jobs
