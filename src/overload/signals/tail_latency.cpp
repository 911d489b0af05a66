#include "overload/signals/tail_latency.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::overload {

namespace {

// Share of the answers: if as many time out, requests take too long.
constexpr double kLate = 0.01;
constexpr double kDeviations = 2;
// Shares of the timeout. Behind a queue all requests take long. If the answered ones take less than
// the first, the others take long at any load; if less than the second, there is no queue.
constexpr double kAtTimeout = 0.8;
constexpr double kNearTimeout = 0.7;

}  // namespace

TailLatency::TailLatency(const config::Overload& settings, Duration timeout)
    : timeout_(to_seconds(timeout)) {
  if (settings.stages.empty()) watch(settings.enter, settings.exit);
  for (const config::Stage& stage : settings.stages) {
    if (limits_.empty()) watch(stage.enter, stage.exit);
  }
}

void TailLatency::watch(const config::Thresholds& enter, const config::Thresholds& exit) {
  using S = OverloadSignals;
  if (enter.latency_p95 && exit.latency_p95)
    limits_.push_back(
        {&S::latency_p95, to_seconds(*enter.latency_p95), to_seconds(*exit.latency_p95)});
  if (enter.latency_p99 && exit.latency_p99)
    limits_.push_back(
        {&S::latency_p99, to_seconds(*enter.latency_p99), to_seconds(*exit.latency_p99)});
  if (enter.latency_p95_ratio && exit.latency_p95_ratio)
    limits_.push_back({&S::latency_p95_ratio, *enter.latency_p95_ratio, *exit.latency_p95_ratio});
}

std::optional<TailLatency::Judgement> TailLatency::judge(const OverloadSignals& signals) const {
  std::optional<Judgement> result;
  for (const Limit& limit : limits_) {
    const std::optional<double> value = signals.*limit.signal;
    if (!value) continue;
    const double factor = (limit.enter + limit.exit) / 2 / std::max(*value, 1e-9);
    if (!result) result = Judgement{.factor = factor};
    result->is_breached |= *value >= limit.enter;
    result->is_satisfied &= *value < limit.exit;
    result->factor = std::min(result->factor, factor);
  }
  return result;
}

TailLatency::Judgement TailLatency::judge_timeouts(const OverloadSignals& signals,
                                                   double answers) const {
  const double late = signals.timeout_rate.value_or(0);
  // Among few answers one or two timeouts are chance.
  const double certain = late - kDeviations * std::sqrt(late / std::max(answers, 1.0));
  const double answered = signals.latency_p95.value_or(timeout_);
  const bool is_late = certain >= kLate && answered >= kAtTimeout * timeout_;
  const double held = signals.inflight / std::max(signals.admitted_rate, 1e-9);
  const double latency = is_late ? std::max(timeout_, held) : answered;
  return {.is_breached = is_late,
          .is_satisfied = answered < kNearTimeout * timeout_,
          .are_late = is_late,
          .factor = (is_late ? (1 + kNearTimeout) / 2 : kNearTimeout) * timeout_ /
                    std::max(latency, 1e-9)};
}

}  // namespace spillway::overload
