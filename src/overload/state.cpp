#include "overload/state.hpp"

namespace spillway::overload {
namespace {

using Signal = std::optional<double> OverloadSignals::*;

std::optional<double> seconds(std::optional<Milliseconds> duration) {
  if (!duration) return std::nullopt;
  return to_seconds(*duration);
}

struct Limit {
  Reason reason;
  Signal signal;
  std::optional<double> threshold;
};

// Most alarming first.
std::array<Limit, 6> limits(const config::Thresholds& t) {
  using S = OverloadSignals;
  return {{{Reason::queue_saturation, &S::queue_ratio, t.queue_ratio},
           {Reason::queue_wait_risk, &S::queue_wait_p95, seconds(t.queue_wait_p95)},
           {Reason::tail_latency, &S::latency_p95, seconds(t.latency_p95)},
           {Reason::event_loop_lag, &S::event_loop_lag, seconds(t.event_loop_lag)},
           {Reason::error_burst, &S::error_rate, t.error_rate},
           {Reason::inflight_saturation, &S::inflight_ratio, t.inflight_ratio}}};
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

StateMachine::StateMachine(const config::Overload& settings)
    : enter_(settings.enter), exit_(settings.exit), cooldown_(settings.cooldown) {}

std::optional<Transition> StateMachine::step(const OverloadSignals& signals, TimePoint now) {
  const Reason alarm = breached(enter_, signals);
  if (state_ == State::normal) {
    if (alarm == Reason::none) return std::nullopt;
    state_ = State::overloaded;
    reason_ = entry_reason_ = alarm;
    since_ = now;
    return Transition{State::normal, State::overloaded, alarm};
  }
  if (alarm == Reason::none && now - *since_ >= cooldown_ && all_satisfied(exit_, signals)) {
    state_ = State::normal;
    reason_ = Reason::none;
    since_ = now;
    return Transition{State::overloaded, State::normal, entry_reason_};
  }
  reason_ = alarm != Reason::none ? alarm : entry_reason_;
  return std::nullopt;
}

}  // namespace spillway::overload
