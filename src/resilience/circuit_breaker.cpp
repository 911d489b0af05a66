#include "resilience/circuit_breaker.hpp"

#include <algorithm>

namespace spillway::resilience {
namespace {

constexpr double kBadRate = 0.5;  // used if no limit is set

TimePoint later(TimePoint now, Duration by) { return now < kNever - by ? now + by : kNever; }

}  // namespace

CircuitBreaker::CircuitBreaker(const CircuitBreakerLimits& limits)
    : limits_(limits),
      samples_(limits.window),
      failures_(limits.window),
      sources_(limits.window),
      pace_(limits.window) {
  limits_.min_samples = std::max(limits_.min_samples, 1u);
  limits_.probes = std::max(limits_.probes, 1u);
  limits_.successes_to_close = std::max(limits_.successes_to_close, 1u);
}

TimePoint CircuitBreaker::allowed_from(const FailureSource* source) const {
  switch (state_) {
    case CircuitState::closed: return TimePoint::min();
    case CircuitState::open: return is_stranger(source) ? strangers_from_ : probe_at_;
    case CircuitState::half_open: break;
  }
  if (probes_running_ >= limits_.probes) return kNever;
  if (source != nullptr && suspects_.has(*source)) return suspects_from_;
  return is_stranger(source) ? strangers_from_ : TimePoint::min();
}

bool CircuitBreaker::is_stranger(const FailureSource* source) const {
  return source != nullptr && !well_.has(*source);
}

CircuitBreaker::Call CircuitBreaker::allow(TimePoint now, const FailureSource* source) {
  if (state_ == CircuitState::closed) return {.allowed = true, .era = era_};
  if (now < allowed_from(source)) return {};
  if (state_ == CircuitState::open) enter(CircuitState::half_open);
  const bool is_suspect = source != nullptr && suspects_.has(*source);
  ++probes_running_;
  return {.allowed = true, .suspected = is_suspect, .era = era_};
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
    record_probe(call, result, now, random, source);
  }
}

void CircuitBreaker::record_closed(CallResult result, TimePoint now, Random& random,
                                   const FailureSource* source) {
  if (result == CallResult::ignored) return;
  sources_.record(source, result == CallResult::failure, now);
  if (result == CallResult::failure && is_suspect_of_late(source, now)) return;
  samples_.add(now);
  if (result == CallResult::success) {
    row_ = {};
    pace_.add(now);
    if (source == nullptr) return;
    suspects_.succeeded(*source);
    well_.add(*source, now);
    return;
  }
  failures_.add(now);
  add_to_row(source);
  if (too_many_failures(now)) open(now, random);
}

bool CircuitBreaker::is_suspect_of_late(const FailureSource* source, TimePoint now) const {
  return source != nullptr && now < suspects_until_ && suspects_.has(*source);
}

// A failure without a source is the server's own: it had no connection.
void CircuitBreaker::add_to_row(const FailureSource* source) {
  if (row_.failures == 0 && source != nullptr) row_.first = *source;
  row_.is_one_client =
      row_.is_one_client && source != nullptr && source->client == row_.first.client;
  row_.is_one_path = row_.is_one_path && source != nullptr && source->path == row_.first.path;
  row_.is_responses = row_.is_responses && source != nullptr;
  ++row_.failures;
}

// No call is allowed while the circuit is open, so a call of this era is a probe.
void CircuitBreaker::record_probe(const Call& call, CallResult result, TimePoint now,
                                  Random& random, const FailureSource* source) {
  if (!call.answered) --probes_running_;
  switch (result) {
    case CallResult::ignored: return;
    case CallResult::success: return probe_succeeded(call, now, source);
    case CallResult::failure: break;
  }
  if (reopens(call, now, source)) open(now, random);
}

void CircuitBreaker::probe_succeeded(const Call& call, TimePoint now, const FailureSource* source) {
  if (source != nullptr) suspects_.succeeded(*source);
  pace_.resume(now);
  has_other_served_ = has_other_served_ || !call.suspected;
  if (++probes_succeeded_ < limits_.successes_to_close) return;
  times_opened_ = 0;
  suspects_until_ = later(now, limits_.window);
  enter(CircuitState::closed);
}

// Whether a failed probe opens the circuit again. If not, its source is now a suspect.
bool CircuitBreaker::reopens(const Call& call, TimePoint now, const FailureSource* source) {
  if (source == nullptr) return true;
  const bool is_first = suspects_.empty();
  if (!is_first && suspects_.is_independent(*source)) return true;
  if (call.suspected && !has_other_served_) return true;
  suspects_.failed(*source);
  if (!is_first && !call.suspected) return false;
  if (is_first) probes_succeeded_ = 0;
  suspects_from_ = later(now, open_time_);
  has_other_served_ = false;
  return false;
}

bool CircuitBreaker::too_many_failures(TimePoint now) {
  bool is_long = limits_.consecutive_failures > 0 && row_.failures >= limits_.consecutive_failures;
  if (is_long && !row_.is_one_client && !row_.is_one_path) {
    if (!row_.is_responses || pace_.is_silent(now)) return true;
    is_long = false;
  }
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
  open_time_ = limits_.open_for.delay(times_opened_, random);
  probe_at_ = later(now, open_time_);
  strangers_from_ = well_.empty() ? probe_at_ : later(probe_at_, open_time_);
  suspects_.clear();
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
