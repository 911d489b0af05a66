#include "overload/limit_regulator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spillway::overload {
namespace {

using namespace std::chrono_literals;

// Of a trial: latency in a queue is proportional to its length, so a cut of (target / latency)
// would be right if all of the latency were queueing. Since part of it is service, go there in
// steps: a careful first one, then larger ones, and smaller ones near the knee.
constexpr double kFirstCut = 0.85;
constexpr double kLargestCut = 0.7;
constexpr double kSmallestCut = 0.95;
// While fewer dispatched requests are answered than this, clients leave before they are served, and
// the upstream works for nothing: as much as possible is cut.
constexpr double kWorthwhile = 0.5;
constexpr double kBrake = 0.5;
constexpr double kLargestRaise = 1.5;
constexpr double kDraining = 1.05;  // of the limit, at work
// A cut is kept if at least this part of the throughput remains, less the noise of the count.
constexpr double kThroughputKept = 0.97;
// Coefficient of variation of a saturated upstream's completions, times the root of their number.
constexpr double kNoise = 0.7;
// Of a return towards the knee.
constexpr double kReturn = 1.1;
// Fewer completions than this part of what was offered means that clients leave before they are
// served: a shortage, although slots are free (a limit far too high).
constexpr double kServed = 0.9;
constexpr Duration kGoodMemory = 10min;
constexpr double kSlower = 0.8;
constexpr Duration kSlowerPause = 60s;
constexpr Duration kFirstPause = 20s;
constexpr Duration kLongestPause = 320s;
constexpr Duration kLongestSettling = 10s;

}  // namespace

LimitRegulator::LimitRegulator(const config::Overload& settings, std::uint32_t concurrency,
                               std::uint32_t least)
    : tail_(settings),
      regulate_(settings.regulate),
      moves_(settings.mode == config::Mode::enforce),
      window_(settings.window),
      concurrency_(concurrency),
      least_(std::min(std::max<std::uint32_t>(least, 1), concurrency)),
      limit_(concurrency),
      step_(kFirstCut),
      pause_(kFirstPause) {}

void LimitRegulator::continue_from(const LimitRegulator& former) {
  if (!regulates() || !moves_ || former.limit_ == former.concurrency_) return;
  limit_ = std::clamp(former.limit_, least_, concurrency_);
}

void LimitRegulator::step(const OverloadSignals& signals, std::uint32_t waiting, TimePoint now) {
  if (!regulates() || !moves_) return;
  const auto judged = tail_.judge(signals);
  // No evidence satisfies every exit.
  const auto tail = judged.value_or(TailLatency::Judgement{.factor = kLargestRaise});
  const Reading reading = read(signals, tail);
  note_shortage(reading, signals, waiting, now);
  note_good(reading, now);
  if (is_draining(signals, judged.has_value(), now)) {
    if (trial_) trial_->ends = std::max(trial_->ends, now + settling_time(reading));
    return;
  }
  if (!tail.is_breached) {
    futile_ = false;
    pause_ = kFirstPause;
  }
  if (trial_ && !judged) limit_ = std::exchange(trial_, std::nullopt)->former;
  if (trial_) {
    if (now < trial_->ends) return;
    judge(*std::exchange(trial_, std::nullopt), reading, now);
  }
  if (!is_short_ || now < not_before_) return;
  if (tail.is_satisfied) {
    raise(reading, now);
  } else if (tail.is_breached && !return_to_knee(reading, now) && !got_slower(reading, now)) {
    lower(reading, signals.inflight_ratio.value_or(1) * limit_, now);
  }
}

// More requests at work than the limit, and no evidence of latency: abandoned ones hold the slots.
// Only for so long, since responses that go on after their heads look the same.
bool LimitRegulator::is_draining(const OverloadSignals& signals, bool is_judged, TimePoint now) {
  if (is_judged || signals.inflight_ratio.value_or(0) <= kDraining) {
    draining_since_.reset();
    return false;
  }
  if (!draining_since_) draining_since_ = now;
  return now - *draining_since_ < kLongestSettling;
}

LimitRegulator::Reading LimitRegulator::read(const OverloadSignals& signals,
                                             const TailLatency::Judgement& tail) const {
  const double throughput = signals.completed_rate * (1 - signals.total_error_rate.value_or(0));
  return {.tail = tail,
          .latency = signals.latency_p95.value_or(0),
          .throughput = throughput,
          .samples = throughput * to_seconds(window_),
          .answered = signals.completed_rate >= signals.admitted_rate
                          ? 1
                          : signals.completed_rate / signals.admitted_rate};
}

// A shortage ends, or begins where requests wait, when that has lasted for half a window: a queue
// that empties for a moment changes nothing.
void LimitRegulator::note_shortage(const Reading& reading, const OverloadSignals& signals,
                                   std::uint32_t waiting, TimePoint now) {
  const bool lost = signals.completed_rate < kServed * signals.offered_rate &&
                    signals.offered_rate * to_seconds(window_) >= double(kEnoughSamples);
  const bool is_short = waiting > 0 || lost;
  auto& began = is_short ? short_since_ : enough_since_;
  (is_short ? enough_since_ : short_since_).reset();
  if (!began) began = now;
  // Without a queue, completions also fall behind for as long as latency rises.
  const Duration least = is_short && waiting == 0 ? settling_time(reading) : window_ / 2;
  if (now - *began >= least) is_short_ = is_short;
}

void LimitRegulator::note_good(const Reading& reading, TimePoint now) {
  if (last_step_) {
    const double passed = to_seconds(now - *std::exchange(last_step_, now));
    good_throughput_ *= std::exp(-passed / to_seconds(kGoodMemory));
  }
  last_step_ = now;
  if (reading.tail.is_satisfied && reading.latency > 0)
    good_throughput_ = std::max(good_throughput_, reading.throughput);
}

// With requests waiting for it the upstream does less than it did at a good latency: it got slower,
// which no limit changes. The trial that would show it comes later.
bool LimitRegulator::got_slower(const Reading& reading, TimePoint now) {
  if (pause_ != kFirstPause || limit_ != concurrency_ || reading.answered < kWorthwhile ||
      reading.throughput >= kSlower * good_throughput_)
    return false;
  not_before_ = now + kSlowerPause;
  pause_ *= 2;
  return true;
}

void LimitRegulator::lower(const Reading& reading, double inflight, TimePoint now) {
  const bool brakes = reading.answered < kWorthwhile;
  const double factor = brakes ? kBrake : std::clamp(reading.tail.factor, step_, kSmallestCut);
  // From the slots in use: a limit far above them would take many steps to bind.
  const double from = std::min<double>(limit_, std::ceil(inflight));
  const auto lowered =
      std::max(least_, static_cast<std::uint32_t>(std::max(1.0, std::floor(from * factor))));
  if (lowered >= limit_) return;
  best_throughput_ = brakes ? reading.throughput : std::max(best_throughput_, reading.throughput);
  trial_ = Trial{limit_, now + settling_time(reading)};
  limit_ = lowered;
}

void LimitRegulator::judge(const Trial& trial, const Reading& after, TimePoint now) {
  const double noise = kNoise / std::sqrt(std::max(1.0, after.samples));
  const bool brakes = after.answered < kWorthwhile;
  const bool keeps_throughput = after.throughput >= (kThroughputKept - noise) * best_throughput_;
  if (is_short_ && (brakes || keeps_throughput)) {
    step_ = std::max(kLargestCut, step_ * kFirstCut);
    return;
  }
  limit_ = trial.former;
  if (!is_short_) {  // the demand fell meanwhile: nothing was learned
    best_throughput_ = 0;
    return;
  }
  futile_ = true;
  step_ = std::sqrt(std::max(step_, kFirstCut));  // closer to the knee next time
  not_before_ = now + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
}

// Trials that each cost less than the noise add up. So where they have cost more than that, the
// limit returns; and what the upstream once did is forgotten by halves, for it may do less now.
bool LimitRegulator::return_to_knee(const Reading& reading, TimePoint now) {
  if (limit_ == concurrency_ || reading.answered < kWorthwhile ||
      reading.throughput >= kThroughputKept * best_throughput_)
    return false;
  const double factor = std::min(kReturn, best_throughput_ / std::max(reading.throughput, 1e-9));
  limit_ = static_cast<std::uint32_t>(std::min<double>(concurrency_, std::ceil(limit_ * factor)));
  best_throughput_ = (best_throughput_ + reading.throughput) / 2;
  not_before_ = now + settling_time(reading);
  return true;
}

void LimitRegulator::raise(const Reading& reading, TimePoint now) {
  if (limit_ == concurrency_) return;
  const double factor = std::min(kLargestRaise, reading.tail.factor);
  limit_ = static_cast<std::uint32_t>(std::min<double>(concurrency_, std::ceil(limit_ * factor)));
  best_throughput_ = 0;
  step_ = kFirstCut;
  not_before_ = now + settling_time(reading);
}

// Until the window holds nothing but requests that were sent under the new limit.
Duration LimitRegulator::settling_time(const Reading& reading) const {
  return window_ + std::min(kLongestSettling, from_seconds(1.5 * reading.latency));
}

}  // namespace spillway::overload
