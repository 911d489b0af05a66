#include "overload/paired_dither.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spillway::overload {
namespace {

using namespace std::chrono_literals;

// Of a phase.
constexpr Duration kShortest = 300ms;
constexpr Duration kLongest = 10s;
constexpr double kFewest = 60;  // successes
// Standard deviation of the elasticity that a phase is long enough for. The narrower the interval,
// the more successes that takes.
constexpr double kPrecision = 1;
// At least so many times as long as a request holds its slot.
constexpr double kHolds = 1;
constexpr double kSettles = 1.2;
// Without a queue for so long, the limit does not bind.
constexpr Duration kIdle = 1s;

// The lower limit is this quantile of the knee, the less of it the less is known; the higher one
// is at least e^0.18 = 1.2 times the lower one.
constexpr double kLow = 0.6;
constexpr double kLowUnknown = 0.35;
constexpr double kHigh = 0.85;
constexpr double kUnknown = 0.7;  // between the quantiles 0.2 and 0.8
constexpr double kNarrowest = 0.18;
constexpr double kWidest = 1;
constexpr double kFirstSpread = 1.2;
constexpr double kRestartSpread = 0.4;
// Variance of the logarithm of a count of completions, times the count.
constexpr double kCountNoise = 0.6;
// While fewer dispatched requests are answered than this, clients leave before they are served.
constexpr double kFewestAnswered = 0.5;
constexpr Duration kBrakePause = 2s;
// The two phases must differ in requests at work by this part of the width at least.
constexpr double kFilled = 0.4;

std::uint32_t rounded(double limit) { return static_cast<std::uint32_t>(std::lround(limit)); }

}  // namespace

PairedDither::PairedDither(const config::AutoConcurrency& settings, std::uint32_t least)
    : least_(std::max(settings.min, std::min(least, settings.max))),
      most_(settings.max),
      knee_(least_, most_) {
  knee_.suppose(settings.initial, kFirstSpread);
  place();
  limit_ = static_cast<std::uint32_t>(std::clamp<double>(settings.initial, least_, most_));
}

void PairedDither::restart(std::uint32_t limit) {
  knee_.suppose(std::clamp<double>(limit, least_, most_), kRestartSpread);
  place();
  phase_.reset();
  other_.reset();
  limit_ = static_cast<std::uint32_t>(std::clamp<double>(limit, least_, most_));
}

void PairedDither::step(const LimitSample& sample, TimePoint now) {
  short_for_ = sample.is_short ? short_for_ + sample.span : Duration{0};
  if (sample.answered < kFewestAnswered && sample.is_short) return brake(now);
  if (!phase_) {
    if (short_for_ >= kShortest) begin(true, now);
    return;
  }
  if (now - sample.span < phase_->settled) return;
  phase_->seconds += to_seconds(sample.span);
  phase_->slot_seconds += sample.slot_seconds;
  phase_->succeeded += sample.succeeded;
  phase_->idle = sample.is_short ? Duration{0} : phase_->idle + sample.span;
  if (phase_->idle >= kIdle) return stop();
  if (phase_->succeeded > 0) held_ = phase_->slot_seconds / phase_->succeeded;
  if (!is_enough(*phase_)) return;
  const Phase done = *std::exchange(phase_, std::nullopt);
  if (done.succeeded < kFewest / 3) return stop();  // too slow to tell
  if (!other_) {
    other_ = done;
    return begin(!is_high_, now);
  }
  const Phase other = *std::exchange(other_, std::nullopt);
  is_high_ ? judge(other, done) : judge(done, other);
  begin(is_high_, now);
}

void PairedDither::begin(bool high, TimePoint now) {
  is_high_ = high;
  const std::uint32_t limit = high ? high_limit() : low_limit();
  const bool changes = limit != limit_;
  limit_ = limit;
  phase_ = Phase{.settled = changes ? now + from_seconds(kSettles * held_) : now};
}

// The limit no longer binds. The higher one is kept: it refuses less.
void PairedDither::stop() {
  phase_.reset();
  other_.reset();
  limit_ = high_limit();
}

bool PairedDither::is_enough(const Phase& phase) const {
  if (phase.seconds >= to_seconds(kLongest)) return true;
  const double enough = 2 * kCountNoise / (kPrecision * width_ * kPrecision * width_);
  return phase.succeeded >= std::max(kFewest, enough) && phase.seconds >= to_seconds(kShortest) &&
         phase.seconds >= kHolds * held_;
}

void PairedDither::judge(const Phase& low, const Phase& high) {
  const double more_work = std::log(high.at_work() / low.at_work());
  if (!(more_work >= kFilled * width_)) return;
  const double growth = std::log(high.throughput() / low.throughput());
  const double variance = kCountNoise * (1 / low.succeeded + 1 / high.succeeded);
  knee_.learn(low.at_work(), high.at_work(), growth, std::sqrt(variance));
  place();
}

void PairedDither::brake(TimePoint now) {
  if (now < brakes_from_) return;
  brakes_from_ = now + kBrakePause;
  other_.reset();
  knee_.suppose(std::exp(low_) / 2, kFirstSpread / 2);
  place();
  begin(true, now);
}

void PairedDither::place() {
  const double unknown = std::min(1.0, (knee_.quantile(0.8) - knee_.quantile(0.2)) / kUnknown);
  low_ = knee_.quantile(kLow + unknown * (kLowUnknown - kLow));
  width_ = std::clamp(knee_.quantile(kHigh) - low_, kNarrowest, kWidest);
}

std::uint32_t PairedDither::low_limit() const {
  const double below = std::max(least_, double(high_limit()) - 1);
  return rounded(std::clamp(std::exp(low_), least_, below));
}

std::uint32_t PairedDither::high_limit() const {
  const double high = std::max(std::exp(low_ + width_), std::round(std::exp(low_)) + 1);
  return rounded(std::clamp(high, least_, most_));
}

}  // namespace spillway::overload
