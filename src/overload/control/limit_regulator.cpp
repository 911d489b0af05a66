#include "overload/control/limit_regulator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spillway::overload {
namespace {

using namespace std::chrono_literals;

// Cuts of a trial: latency in a queue is proportional to its length, so a cut to target / latency
// would be right if all of the latency were queueing. Since part of it is service time, the limit
// gets there in steps: a careful first one, then larger ones, and smaller ones near the knee.
constexpr double kFirstCut = 0.85;
constexpr double kLargestCut = 0.7;
constexpr double kSmallestCut = 0.95;
// While a smaller share of the dispatched requests is answered, clients leave before they are
// served, and the upstream works in vain: the largest cut is made.
constexpr double kWorthwhile = 0.5;
constexpr double kBrake = 0.5;
constexpr double kLargestRaise = 1.5;
// Raises of a limit that was lowered for timeouts: each twice the last one while throughput has
// grown by this share of it.
constexpr double kSmallestRaise = 1.05;
constexpr double kGrowth = 0.5;
constexpr double kDraining = 1.05;  // share of the limit at work
// A cut is kept if at least this share of the throughput remains, less the noise of the count.
constexpr double kThroughputKept = 0.97;
// More successes, beyond the noise: then fewer slots given back do not matter.
constexpr double kGained = 1.05;
// Timeouts relative to those before: above this a lower limit does not help.
constexpr double kRelief = 0.85;
// If this many times as many slots are given back, the upstream has recovered, whatever the limit.
constexpr double kFaster = 1.4;
// Coefficient of variation of a saturated upstream's completions, times the root of their number.
constexpr double kNoise = 0.7;
// The largest factor of a return towards the knee.
constexpr double kReturn = 1.1;
// If completions are a smaller share of the offered requests, clients leave before they are served:
// a shortage, although slots are free (a limit far too high).
constexpr double kServed = 0.9;
// The same for answers in time: lower, since some requests may always take too long.
constexpr double kInTime = 0.7;
constexpr Duration kGoodMemory = 10min;
constexpr double kSlower = 0.8;
constexpr Duration kSlowerPause = 60s;
constexpr Duration kFirstPause = 20s;
constexpr Duration kLongestPause = 320s;
constexpr Duration kLongestSettling = 10s;
// Slots are held for the timeout and at most as long again. With a longer timeout, no request would
// have been sent under the new limit by the time a trial is judged.
constexpr Duration kLongestTimeout = 5s;
// If a smaller share of the answers times out for this long, a higher limit is tried, though the
// answers in time take nearly as long as the timeout.
constexpr double kFewLate = 0.005;
constexpr Duration kCalmFor = 60s;

}  // namespace

LimitRegulator::LimitRegulator(const config::Overload& settings, std::uint32_t concurrency,
                               std::uint32_t least, Duration timeout)
    : tail_(settings, timeout <= kLongestTimeout ? timeout : Duration{0}),
      regulate_(settings.regulate),
      moves_(settings.mode == config::Mode::enforce),
      window_(settings.window),
      concurrency_(concurrency),
      least_(std::min(std::max<std::uint32_t>(least, 1), concurrency)),
      limit_(concurrency),
      step_(kFirstCut),
      pause_(kFirstPause) {}

void LimitRegulator::continue_from(const LimitRegulator& former) {
  if (!is_moving() || former.limit_ == former.concurrency_) return;
  last_late_ = former.last_late_;
  limit_ = std::clamp(former.limit_, least_, concurrency_);
}

void LimitRegulator::on_rotation(double times, TimePoint now) {
  if (!is_moving()) return;
  if (trial_) limit_ = std::exchange(trial_, std::nullopt)->former;
  best_throughput_ = 0;
  good_throughput_ *= times;
  raised_ = {};
  not_before_ = std::max(not_before_, now + 2 * window_);
}

void LimitRegulator::step(const OverloadSignals& signals, std::uint32_t waiting, TimePoint now) {
  if (!is_moving()) return;
  const auto judged = judge_tail(signals, now);
  // A lack of evidence satisfies every exit threshold.
  const auto tail = judged.value_or(TailLatency::Judgement{.factor = kLargestRaise});
  const Reading reading = read(signals, tail, now);
  note_shortage(reading, signals, waiting, now);
  note_good(reading, now);
  last_ = Last{now, signals.inflight};
  if (is_draining(signals, judged.has_value(), now)) {
    if (trial_) trial_->ends = std::max(trial_->ends, now + settling_time(reading));
    return;
  }
  // A brief dip of latency below its enter threshold does not count as success.
  if (!tail.is_breached && (!futile_ || tail.is_satisfied || now >= not_before_)) {
    futile_ = false;
    pause_ = kFirstPause;
  }
  if (trial_ && !judged) limit_ = std::exchange(trial_, std::nullopt)->former;
  if (trial_) {
    if (now < trial_->ends) return;
    judge(*std::exchange(trial_, std::nullopt), reading, now);
    if (trial_) return;
  }
  if (!is_short_ || now < not_before_) return;
  if (tail.is_satisfied) {
    raise(reading, now);
  } else if (tail.is_breached && !return_to_knee(reading, now) && !got_slower(reading, now)) {
    lower(reading, signals.inflight_ratio.value_or(1) * limit_, now);
  }
}

// Includes the timeout, from the first breach on until the limit is back.
std::optional<TailLatency::Judgement> LimitRegulator::judge_tail(const OverloadSignals& signals,
                                                                 TimePoint now) {
  auto judged = tail_.judge(signals);
  if (!tail_.has_timeout() || !signals.timeout_rate) return judged;
  if (limit_ == concurrency_) last_late_.reset();
  TailLatency::Judgement late =
      tail_.judge_timeouts(signals, signals.completed_rate * to_seconds(window_));
  if (late.is_breached || (last_late_ && *signals.timeout_rate > kFewLate)) last_late_ = now;
  if (!last_late_) return judged;
  if (now - *last_late_ >= kCalmFor && !late.is_satisfied) {
    late.is_satisfied = true;
    late.factor = kSmallestRaise;
  }
  if (!judged) return late;
  judged->is_breached |= late.is_breached;
  judged->are_late = late.are_late;
  judged->is_satisfied &= late.is_satisfied;
  judged->factor = std::min(judged->factor, late.factor);
  return judged;
}

// More requests at work than the limit, and no evidence of latency: abandoned ones hold the slots.
// Bounded in time, since responses that continue after their heads look the same.
bool LimitRegulator::is_draining(const OverloadSignals& signals, bool is_judged, TimePoint now) {
  if (is_judged || signals.inflight_ratio.value_or(0) <= kDraining) {
    draining_since_.reset();
    return false;
  }
  if (!draining_since_) draining_since_ = now;
  return now - *draining_since_ < kLongestSettling;
}

LimitRegulator::Reading LimitRegulator::read(const OverloadSignals& signals,
                                             const TailLatency::Judgement& tail,
                                             TimePoint now) const {
  const double throughput = signals.completed_rate * (1 - signals.total_error_rate.value_or(0));
  const double late = tail_.has_timeout() ? signals.timeout_rate.value_or(0) : 0;
  const double answers = signals.completed_rate * (1 - late);
  const double held =
      late > 0 && signals.admitted_rate > 0 ? signals.inflight / signals.admitted_rate : 0;
  // Growth per second, over the time over which `inflight` is averaged.
  const bool has_last = last_ && now > last_->at;
  const double growth =
      has_last ? (signals.inflight - last_->inflight) / to_seconds(now - last_->at) : 0;
  return {.tail = tail,
          .latency = std::max(signals.latency_p95.value_or(0), held),
          .throughput = throughput,
          .late = late,
          .released = signals.admitted_rate - growth,
          .samples = throughput * to_seconds(window_),
          .in_time = answers,
          .answered = answers >= signals.admitted_rate ? 1 : answers / signals.admitted_rate};
}

// A shortage ends, or begins while requests wait, once the change has lasted half a window: a queue
// that is empty for a moment changes nothing.
void LimitRegulator::note_shortage(const Reading& reading, const OverloadSignals& signals,
                                   std::uint32_t waiting, TimePoint now) {
  const bool lost = (signals.completed_rate < kServed * signals.offered_rate ||
                     reading.in_time < kInTime * signals.offered_rate) &&
                    signals.offered_rate * to_seconds(window_) >= double(kEnoughSamples);
  const bool is_short = waiting > 0 || lost;
  if (!spell_ || spell_->is_short != is_short) spell_ = Spell{is_short, now};
  // Without a queue, completions also fall behind while latency is rising.
  const Duration least = is_short && waiting == 0 ? settling_time(reading) : window_ / 2;
  if (now - spell_->since >= least) is_short_ = is_short;
}

void LimitRegulator::note_good(const Reading& reading, TimePoint now) {
  if (last_) {
    const double passed = to_seconds(now - last_->at);
    good_throughput_ *= std::exp(-passed / to_seconds(kGoodMemory));
  }
  if (reading.tail.is_satisfied && reading.latency > 0)
    good_throughput_ = std::max(good_throughput_, reading.throughput);
}

// While requests wait, the upstream does less than it did at a good latency: it has become slower,
// which no limit changes. The trial that would show it is postponed.
bool LimitRegulator::got_slower(const Reading& reading, TimePoint now) {
  if (reading.tail.are_late || pause_ != kFirstPause || limit_ != concurrency_ ||
      reading.answered < kWorthwhile || reading.throughput >= kSlower * good_throughput_)
    return false;
  not_before_ = now + kSlowerPause;
  pause_ *= 2;
  return true;
}

void LimitRegulator::lower(const Reading& reading, double inflight, TimePoint now) {
  const bool brakes = reading.answered < kWorthwhile;
  const double factor = brakes ? kBrake : std::clamp(reading.tail.factor, step_, kSmallestCut);
  // From the slots in use: a limit far above them would need many steps to bind.
  const double from = std::min<double>(limit_, std::ceil(inflight));
  const auto lowered =
      std::max(least_, static_cast<std::uint32_t>(std::max(1.0, std::floor(from * factor))));
  if (lowered >= limit_) return;
  best_throughput_ = brakes ? reading.throughput : std::max(best_throughput_, reading.throughput);
  raised_ = {};
  trial_ = Trial{.former = limit_, .ends = now + settling_time(reading)};
  if (reading.tail.are_late) {
    trial_->released = reading.released;
    trial_->late = reading.late;
  }
  limit_ = lowered;
}

// Where many requests are not answered in time, this shows how much the upstream does.
bool LimitRegulator::releases_as_before(const Trial& trial, const Reading& after) const {
  const double noise = kNoise / std::sqrt(std::max(1.0, after.released * to_seconds(window_)));
  return after.released >= (kThroughputKept - noise) * trial.released;
}

bool LimitRegulator::is_kept(const Trial& trial, const Reading& after) const {
  const bool keeps_released = releases_as_before(trial, after);
  if (after.answered < kWorthwhile) return keeps_released;
  const double noise = kNoise / std::sqrt(std::max(1.0, after.samples));
  if (after.throughput < (kThroughputKept - noise) * best_throughput_) return false;
  if (trial.late == 0) return true;
  return after.late <= kRelief * trial.late &&
         (keeps_released || after.throughput >= kGained * best_throughput_);
}

// An upstream that has just become slower gives back fewer slots under any limit. So if nearly
// nothing is answered, a second cut is compared with the first one.
bool LimitRegulator::looks_again(const Trial& trial, const Reading& after, TimePoint now) {
  if (trial.late == 0 || trial.is_second || after.answered >= kWorthwhile) return false;
  lower(after, limit_, now);
  if (!trial_) return false;
  trial_->former = trial.former;
  trial_->is_second = true;
  return true;
}

void LimitRegulator::judge(const Trial& trial, const Reading& after, TimePoint now) {
  const bool got_faster =
      trial.late > 0 && trial.released > 0 && after.released > kFaster * trial.released;
  if (is_short_ && !got_faster && is_kept(trial, after)) {
    step_ = std::max(kLargestCut, step_ * kFirstCut);
    return;
  }
  if (is_short_ && !got_faster && looks_again(trial, after, now)) return;
  limit_ = trial.former;
  if (!is_short_ || got_faster) {  // or demand fell meanwhile: no conclusion
    best_throughput_ = 0;
    return;
  }
  futile_ = true;
  step_ = std::sqrt(std::max(step_, kFirstCut));  // closer to the knee next time
  not_before_ = now + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
}

// The costs of trials, each below the noise, add up. So once their sum exceeds it, the limit
// returns; and the old throughput is forgotten by halves, since the upstream may do less now.
bool LimitRegulator::return_to_knee(const Reading& reading, TimePoint now) {
  if (limit_ == concurrency_ || reading.tail.are_late || reading.answered < kWorthwhile ||
      reading.throughput >= kThroughputKept * best_throughput_)
    return false;
  const double factor = std::min(kReturn, best_throughput_ / std::max(reading.throughput, 1e-9));
  limit_ = static_cast<std::uint32_t>(std::min<double>(concurrency_, std::ceil(limit_ * factor)));
  best_throughput_ = (best_throughput_ + reading.throughput) / 2;
  not_before_ = now + settling_time(reading);
  return true;
}

// Above the knee a higher limit only causes timeouts. So large steps are made only while throughput
// grows with them.
double LimitRegulator::next_raise(const Reading& reading) {
  const double grown = raised_.throughput > 0 ? reading.throughput / raised_.throughput : 0;
  const double expected = 1 + (raised_.factor - 1) * kGrowth;
  raised_.factor =
      grown >= expected ? std::min(kLargestRaise, 1 + 2 * (raised_.factor - 1)) : kSmallestRaise;
  raised_.throughput = reading.throughput;
  return raised_.factor;
}

void LimitRegulator::raise(const Reading& reading, TimePoint now) {
  if (limit_ == concurrency_) return;
  const double factor =
      std::min(last_late_ ? next_raise(reading) : kLargestRaise, reading.tail.factor);
  limit_ = static_cast<std::uint32_t>(std::min<double>(concurrency_, std::ceil(limit_ * factor)));
  best_throughput_ = 0;
  step_ = kFirstCut;
  not_before_ = now + settling_time(reading);
}

// Until the window contains only requests that were sent under the new limit.
Duration LimitRegulator::settling_time(const Reading& reading) const {
  return window_ + std::min(kLongestSettling, from_seconds(1.5 * reading.latency));
}

}  // namespace spillway::overload
