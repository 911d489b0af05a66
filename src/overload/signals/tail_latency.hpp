// An upstream's tail latency judged by its thresholds: `latency_p95_ms`, `latency_p99_ms` and
// `latency_p95_ratio` of the lowest stage that has any of them.
#pragma once

#include <optional>
#include <vector>

#include "config/config.hpp"
#include "overload/signals/signals.hpp"

namespace spillway::overload {

class TailLatency {
 public:
  // `timeout`: for responses, an upper bound of the latencies seen; zero: none.
  explicit TailLatency(const config::Overload& settings, Duration timeout = Duration{0});

  bool is_watched() const { return !limits_.empty(); }
  bool has_timeout() const { return timeout_ > 0; }

  struct Judgement {
    bool is_breached = false;  // an enter threshold is reached
    bool is_satisfied = true;  // no exit threshold is exceeded
    bool are_late = false;     // responses do not come within the timeout
    double factor = 1;         // that would bring the worst latency midway between its thresholds
  };
  // nullopt: no evidence.
  std::optional<Judgement> judge(const OverloadSignals& signals) const;
  // By the timeout, with the threshold kLate: the latency of an upstream that answers too late is
  // the time for which requests hold their slots.
  Judgement judge_timeouts(const OverloadSignals& signals, double answers) const;

 private:
  struct Limit {
    std::optional<double> OverloadSignals::*signal;
    double enter, exit;
  };

  void watch(const config::Thresholds& enter, const config::Thresholds& exit);

  std::vector<Limit> limits_;
  double timeout_;  // seconds
};

}  // namespace spillway::overload
