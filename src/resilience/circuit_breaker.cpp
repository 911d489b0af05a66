#include "resilience/circuit_breaker.hpp"

#include <algorithm>

namespace spillway::resilience {
namespace {

constexpr double kBadRate = 0.5;  // where there is no limit for it

}  // namespace

CircuitBreaker::CircuitBreaker(const CircuitBreakerLimits& limits)
    : limits_(limits), samples_(limits.window), failures_(limits.window), sources_(limits.window) {
  limits_.min_samples = std::max(limits_.min_samples, 1u);
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

void CircuitBreaker::record(const Call& call, CallResult result, TimePoint now, Random& random,
                            const FailureSource* source) {
  if (!call.allowed || call.era != era_) return;
  if (state_ == CircuitState::closed) {
    record_closed(result, now, random, source);
  } else {
    record_probe(call, result, now, random);
  }
}

void CircuitBreaker::record_closed(CallResult result, TimePoint now, Random& random,
                                   const FailureSource* source) {
  if (result == CallResult::ignored) return;
  samples_.add(now);
  sources_.record(source, result == CallResult::failure, now);
  if (result == CallResult::success) {
    row_ = {};
    return;
  }
  failures_.add(now);
  add_to_row(source);
  if (too_many_failures(now)) open(now, random);
}

// A failure without a source is the server's: no connection, no response.
void CircuitBreaker::add_to_row(const FailureSource* source) {
  if (row_.failures == 0 && source != nullptr) row_.first = *source;
  row_.is_one_client =
      row_.is_one_client && source != nullptr && source->client == row_.first.client;
  row_.is_one_path = row_.is_one_path && source != nullptr && source->path == row_.first.path;
  ++row_.failures;
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
  const bool is_long =
      limits_.consecutive_failures > 0 && row_.failures >= limits_.consecutive_failures;
  if (is_long && !row_.is_one_client && !row_.is_one_path) return true;
  const bool is_often = is_above_rate(failures_.total(now), samples_.total(now));
  if (!is_long && !is_often) return false;
  const auto others = sources_.of_others(limits_.min_samples, now);
  if (!others) return true;
  const double bad_rate = limits_.failure_rate > 0 ? limits_.failure_rate : kBadRate;
  return others->rate() >= bad_rate;
}

bool CircuitBreaker::is_above_rate(std::uint64_t failures, std::uint64_t samples) const {
  if (!(limits_.failure_rate > 0) || samples < limits_.min_samples) return false;
  return static_cast<double>(failures) >= limits_.failure_rate * static_cast<double>(samples);
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
  row_ = {};
  samples_.clear();
  failures_.clear();
  sources_.clear();
}

}  // namespace spillway::resilience
