#include "overload/limit/paired_dither.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "overload/limit/dither_phases.hpp"

namespace spillway::overload {
namespace {

using namespace std::chrono_literals;
using namespace dither;

// The longest phase.
constexpr Duration kLongest = 10s;
// Standard deviation of the elasticity up to which a phase continues. The narrower the interval,
// the more successes that takes.
constexpr double kPrecision = 0.8;
// Length of a phase as a multiple of the time a slot is held: at least, and at most.
constexpr double kHolds = 1;
constexpr double kLongestHolds = 3;
// A guess is used if it is lower than this share of the requests at work.
constexpr double kFarOff = 0.7;
constexpr double kRecovery = 1.3;
constexpr double kFull = 0.98;  // share of the limit

// The lower limit is this quantile of the knee, a lower one while less is known; the higher limit
// is at least e^0.18 = 1.2 times the lower one.
constexpr double kLow = 0.6;
constexpr double kLowUnknown = 0.35;
constexpr double kHigh = 0.85;
constexpr double kUnknown = 0.7;  // the distance of quantiles 0.2 and 0.8 at which nothing is known
constexpr double kNarrowest = 0.18;
constexpr double kWidest = 1;
constexpr double kCareful = 0.35;      // the widest, for kCarefulFor
constexpr double kProportional = 0.7;  // growth of throughput / that of work: far below the knee
// Variance of the logarithm of a count of completions, times that count.
constexpr double kCountNoise = 0.6;
// After a series of cuts that did not help, no further cut for this time, at first.
constexpr Duration kBrakesInVain = 60s;
// Under the two limits the requests at work must differ by at least this share of the width.
constexpr double kFilled = 0.4;

}  // namespace

PairedDither::PairedDither(const config::AutoConcurrency& settings, std::uint32_t least)
    : least_(std::max(settings.min, std::min(least, settings.max))),
      most_(settings.max),
      knee_(least_, most_),
      pause_{{}, kBrakesInVain} {
  knee_.suppose(settings.first(), kFirstSpread);
  place();
  limit_ = static_cast<std::uint32_t>(std::clamp<double>(settings.first(), least_, most_));
}

void PairedDither::restart(std::uint32_t limit) {
  knee_.suppose(std::clamp<double>(limit, least_, most_), kRestartSpread);
  place();
  watch_.reset();
  comparison_.reset();
  limit_ = static_cast<std::uint32_t>(std::clamp<double>(limit, least_, most_));
}

// Ends a series of cuts, but keeps the way back from them.
void PairedDither::continue_from(const ConcurrencyLimit& former) {
  if (const auto* const its = dynamic_cast<const PairedDither*>(&former)) {
    held_ = its->held_;
    times_ = its->times_;
    collapse_ = its->collapse_;
    tried_.guess = its->tried_.guess;
    tried_.cut = its->tried_.cut;
    recover_to_ = std::min(its->recover_to_, most_);
    pause_ = its->pause_;
  }
  restart(former.limit());
}

void PairedDither::step(const LimitSample& sample, TimePoint now) {
  // Until a slot is free the next request will have to wait, even if it is long in coming.
  const bool is_full =
      sample.are_few && sample.slot_seconds >= kFull * limit_ * to_seconds(sample.span);
  const bool is_short = sample.is_short || (is_full && short_for_ > Duration{0});
  short_for_ = is_short ? short_for_ + sample.span : Duration{0};
  idle_for_ = is_short ? Duration{0} : idle_for_ + sample.span;
  times_.step(sample);
  careful_for_ = std::max(careful_for_ - sample.span, Duration{0});
  const std::optional<bool> leave = do_clients_leave(sample);
  note_served(sample, leave.value_or(false));
  collapse_.observe(sample);
  if (!brakes_) {
    switch (collapse_.decide(sample, limit_, least_, now)) {
      case CollapseTrial::Act::none: break;
      case CollapseTrial::Act::cut: return bring_down();
      case CollapseTrial::Act::wait: return;
      case CollapseTrial::Act::keep: recover_to_ = known_good(); break;
      case CollapseTrial::Act::give_back: return return_to(collapse_.former(), now);
    }
  }
  if (brakes_ && is_in_vain(now)) return give_back(now);
  if (leave.value_or(false) && comparison_ && !comparison_->is_high) return raise();
  if (leave.value_or(false)) return brake(sample, now);
  if (brakes_ && brakes_->is_counted && !leave && brakes_->since.seconds < kNoEvidence) return;
  if (brakes_ && is_fresh(sample)) {
    brakes_.reset();
    pause_.if_in_vain = kBrakesInVain;
  }
  if (recover(sample, now)) return;
  if (watch_) return watch(sample, now);
  if (comparison_) return compare(sample, now);
  if (short_for_ < kShortest) return;
  tried_.guess && !may_climb() ? begin_comparing(sample.span, now) : begin_watching(now);
}

void PairedDither::Phase::add(const LimitSample& sample) {
  seconds += to_seconds(sample.span);
  slot_seconds += sample.slot_seconds;
  succeeded += sample.succeeded;
  released += sample.released;
}

void PairedDither::count(Phase& phase, const LimitSample& sample) {
  phase.add(sample);
  const bool is_long = phase.seconds >= to_seconds(kLongest) && phase.released > 0;
  if (phase.released >= kFewest || is_long) held_ = phase.slot_seconds / phase.released;
}

// Applies the higher limit, which refuses less, until a high turn begins.
void PairedDither::begin_comparing(Duration tick, TimePoint now) {
  held_ = times_.recent().value_or(held_);
  turns_.fit(held_, tick);
  comparison_ = Comparison{};
  begin_turn(true, now);
}

void PairedDither::compare(const LimitSample& sample, TimePoint now) {
  if (idle_for_ >= kIdle + from_seconds(turns_.are_shared() ? 0 : held_)) return stop();
  const bool is_high_turn = turns_.is_high_at(sample.wall);
  if (!comparison_->has_begun) {
    comparison_->has_begun = is_high_turn || !turns_.are_shared();
    return;
  }
  if (turns_.are_shared() && is_high_turn != comparison_->is_high) return end_turn(sample, now);
  if (now - sample.span < comparison_->settled) return;
  Phase& phase = comparison_->is_high ? comparison_->high : comparison_->low;
  count(phase, sample);
  if (!turns_.are_shared() && is_enough(phase)) end_turn(sample, now);
}

void PairedDither::end_turn(const LimitSample& sample, TimePoint now) {
  const Phase low = comparison_->low, high = comparison_->high;
  const bool is_high = comparison_->is_high;
  if (low.seconds > 0 && high.seconds > 0 && is_enough(low) && is_enough(high)) {
    if (std::min(low.succeeded, high.succeeded) < kFewest / 3) return stop();  // too slow to judge
    judge(low, high);
    turns_.fit(held_, sample.span);
    comparison_ = Comparison{.has_begun = true};
  } else if (turns_.are_shared() && !DitherTurns::can_be_shared(held_, sample.span)) {
    turns_.fit(held_, sample.span);  // the counts mix both limits
    comparison_ = Comparison{.has_begun = true};
  }
  begin_turn(turns_.are_shared() ? turns_.is_high_at(sample.wall) : !is_high, now);
}

void PairedDither::begin_turn(bool is_high, TimePoint now) {
  const std::uint32_t limit = is_high ? high_limit() : low_limit();
  comparison_->is_high = is_high;
  comparison_->settled = now;
  if (limit == limit_) return;
  limit_ = limit;
  times_.restart();
  Duration settling = from_seconds(kSettles * held_);
  if (turns_.are_shared()) settling = std::min(settling, turns_.length() / 2);
  comparison_->settled += settling;
}

// By Little's law, throughput x the time that a request takes without a queue is the number of
// requests worked on, unless the upstream became slower meanwhile.
std::optional<double> PairedDither::guess(double throughput, double at_work) const {
  const double number = std::clamp(throughput * times_.quiet(), least_, most_);
  if (times_.quiet() <= 0 || number >= kFarOff * at_work) return std::nullopt;
  return number;
}

// The limit up to which no queue was seen at the upstream.
double PairedDither::known_good() const {
  return std::min<double>(limit_, kRecovery * times_.most_unqueued());
}

// After a brake, if requests wait here and not at the upstream: returns to the former limit faster
// than by comparing.
bool PairedDither::recover(const LimitSample& sample, TimePoint now) {
  // Also under the lower limit of a comparison the higher one counts.
  if (std::max(limit_, high_limit()) >= recover_to_ || !sample.has_waiters || times_.has_queue())
    return false;
  if (sample.are_few && !times_.recent()) return false;  // only those of the former limit ended
  const double higher = std::max(limit_ + 1.0, kRecovery * limit_);
  knee_.suppose(std::min(recover_to_, higher), kRestartSpread);
  place();
  watch_.reset();
  begin_comparing(sample.span, now);
  return true;
}

// Clients may leave because the lower limit makes them wait too long in the queue here.
void PairedDither::raise() {
  comparison_.reset();
  knee_.learn(low_limit(), high_limit(), width_, width_);  // a hint that the knee is higher
  place();
  limit_ = high_limit();
  leaving_ = {};
  times_.restart();
}

// The limit no longer binds. Of the two the higher one is kept, since it refuses less.
void PairedDither::stop() {
  watch_.reset();
  if (comparison_) limit_ = high_limit();
  comparison_.reset();
}

bool PairedDither::is_enough(const Phase& phase) const {
  if (phase.seconds >= std::max(to_seconds(kLongest), kLongestHolds * held_)) return true;
  const double enough = 2 * kCountNoise / (kPrecision * width_ * kPrecision * width_);
  return phase.succeeded >= std::max(kFewest, enough) && phase.seconds >= to_seconds(kShortest) &&
         phase.seconds >= kHolds * held_;
}

void PairedDither::judge(const Phase& low, const Phase& high) {
  const double more_work = std::log(high.at_work() / low.at_work());
  if (!(more_work >= kFilled * width_)) return;
  const double growth = std::log(high.throughput() / low.throughput());
  const double variance = kCountNoise * (1 / low.succeeded + 1 / high.succeeded);
  if (growth - std::sqrt(variance) > kProportional * more_work) careful_for_ = Duration{0};
  knee_.learn(low.at_work(), high.at_work(), growth, std::sqrt(variance));
  place();
}

// More work brings less throughput: returns to the limit of the best throughput.
void PairedDither::bring_down() {
  recover_to_ = std::max<double>(limit_, recover_to_);
  tried_.guess = tried_.cut = true;
  knee_.suppose(std::clamp(collapse_.at_best(), least_, most_), kRestartSpread);
  careful_for_ = kCarefulFor;
  watch_.reset();
  comparison_.reset();
  place();
  limit_ = high_limit();
  times_.restart();
}

void PairedDither::return_to(double former, TimePoint now) {
  knee_.suppose(former, kFirstSpread);
  careful_for_ = Duration{0};
  tried_.climb = true;  // not after cuts
  comparison_.reset();
  place();
  limit_ = rounded(std::clamp(former, least_, most_));
  times_.restart();
  begin_watching(now);
}

void PairedDither::place() {
  const double widest = careful_for_ > Duration{0} ? kCareful : kWidest;
  const double unknown = std::min(1.0, (knee_.quantile(0.8) - knee_.quantile(0.2)) / kUnknown);
  low_ = knee_.quantile(kLow + unknown * (kLowUnknown - kLow));
  width_ = std::clamp(knee_.quantile(kHigh) - low_, kNarrowest, widest);
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
