// An upstream's tail latency by its thresholds: `latency_p95_ms`, `latency_p99_ms` and
// `latency_p95_ratio` of the lowest stage that has one of them.
#pragma once

#include <optional>
#include <vector>

#include "config/config.hpp"
#include "overload/signals.hpp"

namespace spillway::overload {

class TailLatency {
 public:
  explicit TailLatency(const config::Overload& settings);

  bool is_watched() const { return !limits_.empty(); }

  struct Judgement {
    bool is_breached = false;  // an enter threshold is reached
    bool is_satisfied = true;  // no exit threshold is exceeded
    double factor = 1;         // by which the worst latency would be between its thresholds
  };
  // nullopt: no evidence.
  std::optional<Judgement> judge(const OverloadSignals& signals) const;

 private:
  struct Limit {
    std::optional<double> OverloadSignals::*signal;
    double enter, exit;
  };

  void watch(const config::Thresholds& enter, const config::Thresholds& exit);

  std::vector<Limit> limits_;
};

}  // namespace spillway::overload
