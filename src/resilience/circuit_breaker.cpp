#include "resilience/circuit_breaker.hpp"

#include <algorithm>

namespace spillway::resilience {

CircuitBreaker::CircuitBreaker(const CircuitBreakerLimits& limits)
    : limits_(limits), samples_(limits.window), failures_(limits.window) {
  limits_.probes = std::max(limits_.probes, 1u);
  limits_.successes_to_close = std::max(limits_.successes_to_close, 1u);
}

bool CircuitBreaker::would_allow(TimePoint now) const {
  switch (state_) {
    case CircuitState::closed: return true;
    case CircuitState::open: return now >= probe_at_;
    case CircuitState::half_open: break;
  }
  return probes_running_ < limits_.probes;
}

CircuitBreaker::Call CircuitBreaker::allow(TimePoint now) {
  if (state_ == CircuitState::closed) return {.allowed = true, .era = era_};
  if (state_ == CircuitState::open) {
    if (now < probe_at_) return {};
    enter(CircuitState::half_open);
  }
  if (probes_running_ >= limits_.probes) return {};
  ++probes_running_;
  return {.allowed = true, .era = era_};
}

void CircuitBreaker::answered(Call& call) {
  if (!call.allowed || call.answered) return;
  call.answered = true;
  if (call.era == era_ && state_ == CircuitState::half_open) --probes_running_;
}

void CircuitBreaker::record(const Call& call, CallResult result, TimePoint now, Random& random) {
  if (!call.allowed || call.era != era_) return;
  if (state_ == CircuitState::closed) {
    record_closed(result, now, random);
  } else {
    record_probe(call, result, now, random);
  }
}

void CircuitBreaker::record_closed(CallResult result, TimePoint now, Random& random) {
  if (result == CallResult::ignored) return;
  samples_.add(now);
  if (result == CallResult::success) {
    failures_in_a_row_ = 0;
    return;
  }
  ++failures_in_a_row_;
  failures_.add(now);
  if (too_many_failures(now)) open(now, random);
}

// No call is allowed while the circuit is open, so one of this era is a probe.
void CircuitBreaker::record_probe(const Call& call, CallResult result, TimePoint now,
                                  Random& random) {
  if (!call.answered) --probes_running_;
  if (result == CallResult::failure) return open(now, random);
  if (result == CallResult::success && ++probes_succeeded_ >= limits_.successes_to_close) {
    times_opened_ = 0;
    enter(CircuitState::closed);
  }
}

bool CircuitBreaker::too_many_failures(TimePoint now) {
  if (limits_.consecutive_failures > 0 && failures_in_a_row_ >= limits_.consecutive_failures) {
    return true;
  }
  const std::uint64_t samples = samples_.total(now);
  if (!(limits_.failure_rate > 0) || samples < limits_.min_samples) return false;
  const auto failures = static_cast<double>(failures_.total(now));
  return failures >= limits_.failure_rate * static_cast<double>(samples);
}

void CircuitBreaker::open(TimePoint now, Random& random) {
  if (times_opened_ < UINT32_MAX) ++times_opened_;
  const Duration wait = limits_.open_for.delay(times_opened_, random);
  probe_at_ = now < kNever - wait ? now + wait : kNever;
  enter(CircuitState::open);
}

void CircuitBreaker::enter(CircuitState state) {
  state_ = state;
  ++era_;
  probes_running_ = 0;
  probes_succeeded_ = 0;
  failures_in_a_row_ = 0;
  samples_.clear();
  failures_.clear();
}

}  // namespace spillway::resilience
