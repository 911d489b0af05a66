// Whether tail latency stays above its threshold under a limit found by throughput ("concurrency":
// "auto"): then neither such a limit nor refusing for lack of room lowers it. Pure; stepped by the
// control tick.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/signals/signals.hpp"
#include "overload/signals/tail_latency.hpp"

namespace spillway::overload {

class UnmetLatency {
 public:
  explicit UnmetLatency(const config::Overload& settings)
      : tail_(settings), patience_(kWindows * settings.window) {}

  // Keeps the result found under the former thresholds.
  void continue_from(const UnmetLatency& former) {
    is_on_ = former.is_on_;
    since_ = former.since_;
  }

  // Begins with a breach; continues between the exit and enter thresholds.
  void step(const OverloadSignals& signals, TimePoint now) {
    const auto judged = tail_.judge(signals);
    const bool is_satisfied = !judged || judged->is_satisfied;
    if (is_satisfied != is_on_)
      since_.reset();
    else if (!since_ && (is_on_ || judged->is_breached))
      since_ = now;
    if (!since_ || now - *since_ < patience_) return;
    is_on_ = !is_on_;
    since_.reset();
  }

  bool is_on() const { return is_on_; }

 private:
  static constexpr int kWindows = 10;  // a limit is usually found within a few

  TailLatency tail_;
  Duration patience_;
  bool is_on_ = false;
  std::optional<TimePoint> since_;  // since when the signal contradicts is_on_
};

}  // namespace spillway::overload
