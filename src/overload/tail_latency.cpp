#include "overload/tail_latency.hpp"

#include <algorithm>

namespace spillway::overload {

TailLatency::TailLatency(const config::Overload& settings) {
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

}  // namespace spillway::overload
