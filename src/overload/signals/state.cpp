#include "overload/signals/state.hpp"

#include <algorithm>
#include <array>

namespace spillway::overload {
namespace {

using Signal = std::optional<double> OverloadSignals::*;
using Weight = double config::SignalWeights::*;

std::optional<double> seconds(std::optional<Milliseconds> duration) {
  if (!duration) return std::nullopt;
  return to_seconds(*duration);
}

struct Limit {
  Reason reason;
  Signal signal;
  Weight weight;
  std::optional<double> threshold;
  double healthy = 0;  // the signal's value without any load
};

// Most alarming first.
std::array<Limit, 8> limits(const config::Thresholds& t) {
  using S = OverloadSignals;
  using W = config::SignalWeights;
  return {
      {{Reason::queue_saturation, &S::queue_ratio, &W::queue_ratio, t.queue_ratio},
       {Reason::queue_wait_risk, &S::queue_wait_p95, &W::queue_wait_p95, seconds(t.queue_wait_p95)},
       {Reason::tail_latency, &S::latency_p95, &W::latency_p95, seconds(t.latency_p95)},
       {Reason::tail_latency, &S::latency_p99, &W::latency_p99, seconds(t.latency_p99)},
       {Reason::tail_latency, &S::latency_p95_ratio, &W::latency_p95_ratio, t.latency_p95_ratio, 1},
       {Reason::event_loop_lag, &S::event_loop_lag, &W::event_loop_lag, seconds(t.event_loop_lag)},
       {Reason::error_burst, &S::error_rate, &W::error_rate, t.error_rate},
       {Reason::inflight_saturation, &S::inflight_ratio, &W::inflight_ratio, t.inflight_ratio}}};
}

}  // namespace

Reason breached(const config::Thresholds& enter, const OverloadSignals& signals) {
  for (const Limit& limit : limits(enter)) {
    const std::optional<double> value = signals.*limit.signal;
    if (limit.threshold && value && *value >= *limit.threshold) return limit.reason;
  }
  return Reason::none;
}

bool all_satisfied(const config::Thresholds& exit, const OverloadSignals& signals) {
  for (const Limit& limit : limits(exit)) {
    const std::optional<double> value = signals.*limit.signal;
    if (limit.threshold && value && *value > *limit.threshold) return false;
  }
  return true;
}

Scored scored(const config::Thresholds& enter, const config::SignalWeights& weights,
              const OverloadSignals& signals) {
  Scored result;
  double largest = 0;
  for (const Limit& limit : limits(enter)) {
    const std::optional<double> value = signals.*limit.signal;
    if (!value || !limit.threshold || *limit.threshold <= limit.healthy) continue;
    const double part = (*value - limit.healthy) / (*limit.threshold - limit.healthy);
    const double contribution = weights.*limit.weight * std::max(part, 0.0);
    result.sum += contribution;
    if (contribution <= largest) continue;
    largest = contribution;
    result.largest = limit.reason;
  }
  return result;
}

StateMachine::StateMachine(const config::Overload& settings)
    : enter_by_(settings.enter_by), score_(settings.score) {
  for (const config::Stage& stage : settings.stages) {
    stages_.push_back(
        {stage.name, stage.enter, stage.exit, stage.cooldown.value_or(settings.cooldown)});
  }
  if (stages_.empty())
    stages_.push_back({State::overloaded, settings.enter, settings.exit, settings.cooldown});
}

void StateMachine::continue_from(const StateMachine& other, TimePoint now) {
  while (level_ < stages_.size() && stages_[level_].name <= other.state()) ++level_;
  if (level_ == 0) return;
  reason_ = other.reason_;
  entry_reason_ = other.entry_reason_;
  since_ = now;
}

std::optional<Transition> StateMachine::step(const OverloadSignals& signals, bool holding,
                                             TimePoint now) {
  if (holding) held_ = now;
  std::optional<Transition> transition;
  std::size_t highest = stages_.size();
  Reason why = Reason::none;
  while (highest > 0 && (why = alarm(stages_[highest - 1], signals)) == Reason::none) --highest;
  if (highest > level_) {
    entry_reason_ = why;
    transition = move_to(highest, now);
  } else if (highest < level_ && may_leave(stages_[level_ - 1], signals, now)) {
    transition = move_to(level_ - 1, now);
  }
  reason_ = present_reason(signals);
  return transition;
}

Transition StateMachine::move_to(std::size_t level, TimePoint now) {
  const State from = state();
  level_ = level;
  since_ = now;
  return {from, state(), entry_reason_};
}

// Why a stage is to be entered now; none if it is not.
Reason StateMachine::alarm(const Stage& stage, const OverloadSignals& signals) const {
  const Reason breach = breached(stage.enter, signals);
  if (enter_by_ == config::EnterBy::any) return breach;
  const Scored score = scored(stage.enter, score_.weights, signals);
  if (score.sum < score_.enter) return Reason::none;
  return breach != Reason::none ? breach : score.largest;
}

bool StateMachine::may_leave(const Stage& stage, const OverloadSignals& signals,
                             TimePoint now) const {
  const TimePoint from = held_ ? std::max(*since_, *held_) : *since_;
  if (now - from < stage.cooldown || !all_satisfied(stage.exit, signals)) return false;
  return enter_by_ == config::EnterBy::any ||
         scored(stage.enter, score_.weights, signals).sum <= score_.exit;
}

Reason StateMachine::present_reason(const OverloadSignals& signals) const {
  if (level_ == 0) return Reason::none;
  for (std::size_t i = level_; i-- > 0;) {
    const Reason breach = breached(stages_[i].enter, signals);
    if (breach != Reason::none) return breach;
  }
  const Reason present = alarm(stages_[level_ - 1], signals);
  return present != Reason::none ? present : entry_reason_;
}

}  // namespace spillway::overload
