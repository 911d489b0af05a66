// Whether tail latency stays above its threshold under a limit that was found by the throughput
// ("concurrency": "auto"): no such limit brings it down, and refusing for want of room does not
// either. Pure; stepped by the control tick.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/signals.hpp"
#include "overload/tail_latency.hpp"

namespace spillway::overload {

class UnmetLatency {
 public:
  explicit UnmetLatency(const config::Overload& settings)
      : tail_(settings), patience_(kWindows * settings.window) {}

  void step(const OverloadSignals& signals, TimePoint now) {
    const auto judged = tail_.judge(signals);
    const bool agrees = is_on_ ? judged && judged->is_breached : !judged || judged->is_satisfied;
    if (agrees || !since_) since_ = now;
    if (now - *since_ < patience_) return;
    is_on_ = !is_on_;
    since_ = now;
  }

  bool is_on() const { return is_on_; }

 private:
  static constexpr int kWindows = 10;  // a limit is found within a few

  TailLatency tail_;
  Duration patience_;
  bool is_on_ = false;
  std::optional<TimePoint> since_;  // the last tick that spoke for is_on_
};

}  // namespace spillway::overload
