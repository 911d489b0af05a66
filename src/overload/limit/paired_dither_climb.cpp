// The start of a paired dither, before it compares: a first observation, a guess, and the climb.
#include <algorithm>
#include <cmath>
#include <utility>

#include "overload/limit/dither_phases.hpp"
#include "overload/limit/paired_dither.hpp"

namespace spillway::overload {
namespace {

using namespace dither;

// Times the time without a queue, by when the first requests of a burst have ended.
constexpr double kCrowdEnds = 1.5;

constexpr double kUnqueued = 1.25;  // times the time without a queue
// If slots are held for longer than this, a step is slow: it takes about one and a half times as
// long as a slot is held, and one step too many delays requests by as much again.
constexpr double kSlow = 0.3;  // seconds
// A slow phase counts once this share of the requests at work has ended, without waiting for those
// of the former limit, and lasts until as many have ended as are at work.
constexpr double kBack = 0.25;
// In a slow step throughput grows by this much less than work, or slots are held for this much
// longer, only if requests wait. Twice the requests at a full upstream hold slots twice as long.
constexpr double kSlowPays = 0.5;
constexpr double kSlowLonger = 1.4;
constexpr double kLeastLonger = 2;  // the least mean may be of a burst that ended together
// If slots are held for less than this, a larger step delays little.
constexpr double kShortlyHeld = 0.06;  // seconds
constexpr double kLargeStep = 4;
constexpr double kStep = 2;
// Growth of throughput / that of work. A proxy that takes it from others holds its slots longer.
constexpr double kPays = 0.75;
constexpr double kHeldLonger = 1.12;
constexpr double kShortestStep = 0.2;  // seconds
constexpr double kFewestOfStep = 120;  // successes: a standard deviation of 0.1 of the growth
constexpr double kFilledStep = 0.4;    // of a step
constexpr double kUnproven = 1.3;      // times the requests seen at work

constexpr Milliseconds kMoment{600};

// By the wall clock, so that proxies before one upstream step together: one that steps alone takes
// throughput from the others.
bool is_common_moment(const LimitSample& sample) {
  return sample.wall / kMoment != (sample.wall - sample.span) / kMoment;
}

}  // namespace

// Before the first phase, since it may yield a guess, or after cuts that were taken back.
void PairedDither::begin_watching(TimePoint now) {
  watch_ = Watch{
      .phase = {}, .settled = now + from_seconds(kSettles * held_), .former = {}, .limit = limit_};
}

// A queue at the upstream makes slots be held for longer, too, so any upstream would seem slow. So
// the time without a queue counts, where it is known.
bool PairedDither::is_slow(double held) const {
  const double unqueued = times_.unqueued();
  return held > kSlow && (unqueued <= 0 || unqueued > kSlow);
}

void PairedDither::watch(const LimitSample& sample, TimePoint now) {
  if (is_idle(sample)) {
    if (watch_->former) leave_step(*watch_);
    return stop();
  }
  if (now - sample.span < watch_->settled) return;
  count_watched(sample);
  const bool is_step = watch_->former || may_climb();
  if (is_step && !is_common_moment(sample)) return;
  const bool is_done = is_step ? is_enough_of_step(watch_->phase) : is_enough(watch_->phase);
  if (!is_done && is_too_slow(*watch_))
    return judge_step(*std::exchange(watch_, std::nullopt), sample.span, now);
  if (!is_done && !shows_queue(watch_->phase)) return;
  const Watch seen = *std::exchange(watch_, std::nullopt);
  if (seen.former) return judge_step(seen, sample.span, now);
  const Phase& done = seen.phase;
  if (std::max(done.succeeded, done.released) < kFewest / 3) return stop();  // too slow to judge
  if (!std::exchange(tried_.guess, true)) {
    if (const auto number = guess(done.released / done.seconds, done.at_work())) {
      recover_to_ = std::max(known_good(), recover_to_);
      knee_.suppose_at_least(*number, std::min(done.at_work(), most_));
      place();
      tried_.climb = true;
    }
  }
  const bool climbs = may_climb_from(done);
  climbs ? begin_climbing(done, now) : begin_comparing(sample.span, now);
}

// Enough for a first guess, if clients are about to leave. Not before a whole request's time: until
// the first requests of a burst have ended, few slots are given back.
bool PairedDither::shows_queue(const Phase& phase) const {
  const double shortest = std::max(to_seconds(kShortest), kCrowdEnds * times_.quiet());
  return !tried_.guess && phase.seconds >= shortest && phase.released >= kFewest &&
         guess(phase.released / phase.seconds, phase.at_work());
}

void PairedDither::count_watched(const LimitSample& sample) {
  Phase& phase = watch_->phase;
  count(phase, sample);
  if (watch_->has_begun || phase.released < kBack * phase.at_work()) return;
  watch_->has_begun = true;
  if (phase.seconds > kSlow && (watch_->former || may_climb())) phase = {};
}

// The requests of a burst end together, so that a limit on slow ones binds periodically, once in
// the time that a slot is held. And a slow step that fills is not idle, though no request waits.
bool PairedDither::is_idle(const LimitSample& sample) const {
  const bool is_step = watch_->is_slow_step;
  const bool may_be_slow = !watch_->former && is_slow(held_) && may_climb();
  const double slow = is_step ? watch_->former->held() : may_be_slow ? held_ : 0;
  if (idle_for_ < kIdle + from_seconds(slow)) return false;
  return !is_step || sample.slot_seconds <= watch_->former->at_work() * to_seconds(sample.span);
}

bool PairedDither::is_enough_of_step(const Phase& phase) const {
  if (phase.seconds < phase.held()) return false;
  if (phase.seconds >= to_seconds(kIdle) && is_enough(phase)) return true;
  return phase.succeeded >= kFewestOfStep && phase.seconds >= std::max(kShortestStep, held_);
}

// The requests that have ended so far already show that the step does not help.
bool PairedDither::is_too_slow(const Watch& step) const {
  if (!step.is_slow_step) return false;
  const double longest = kSlowLonger * step.former->held();
  return step.phase.seconds > longest && step.phase.slot_seconds > longest * step.phase.released;
}

bool PairedDither::may_climb() const {
  if (tried_.climb || brakes_ || careful_for_ > Duration{0} || limit_ >= most_) return false;
  return is_slow(held_) ? !tried_.cut : times_.stretch().value_or(1) <= kUnqueued;
}

// Slow steps begin only while slots are held no longer than without a queue. The mean of the last
// few requests does not show that: those of a burst end together, and then none for a while.
bool PairedDither::may_climb_from(const Phase& done) const {
  if (!may_climb() || done.succeeded < kFewest) return false;
  if (!is_slow(done.held()) && times_.unqueued() <= 0) return true;
  const double longer = times_.quiet() > 0 ? kSlowLonger : kLeastLonger;
  return times_.unqueued() <= 0 || done.held() <= longer * times_.unqueued();
}

void PairedDither::begin_climbing(const Phase& former, TimePoint now) {
  tried_.climb = true;
  const double step = former.held() <= kShortlyHeld ? kLargeStep : kStep;
  const bool is_slow = this->is_slow(former.held());
  watch_ = Watch{.phase = {},
                 .settled = now + from_seconds(is_slow ? 0 : kSettles * held_),
                 .former = former,
                 .limit = limit_,
                 .has_begun = !is_slow,
                 .is_slow_step = is_slow};
  limit_ = rounded(std::min(step * limit_, most_));
  times_.restart();
}

// Judges a step. Another one follows, or turns find the limit from where the last step paid. A slow
// step that fills slowly is watched until it has filled.
void PairedDither::judge_step(const Watch& step, Duration tick, TimePoint now) {
  const Phase &former = *step.former, &phase = step.phase;
  const bool is_slow = step.is_slow_step;
  const double more = std::log(phase.at_work() / former.at_work());
  const double growth = std::log(phase.throughput() / former.throughput());
  const bool is_filled = more >= kFilledStep * std::log(kStep);
  if (is_slow && !is_filled) {
    watch_ = step;
    watch_->phase = {};
    return;
  }
  const bool pays = is_slow ? growth >= kSlowPays * more
                            : growth >= kPays * more && phase.held() <= kHeldLonger * former.held();
  if (!is_filled) leave_step(step);
  if (is_filled && pays) end_climbing(step);
  if (is_slow && pays && idle_for_ >= from_seconds(former.held())) return stop();
  if (is_filled && pays && limit_ < most_) return begin_climbing(phase, now);
  if (is_filled && !pays) {
    held_ = former.held();
    times_.restart();
    if (!DitherTurns::can_be_shared(held_, tick)) learn_from(step);
  }
  begin_comparing(tick, now);
}

// For a step that did not help where turns are too long to be shared, and thus few. Nothing is
// learned from other steps: turns that all proxies share measure it better.
void PairedDither::learn_from(const Watch& step) {
  const Phase &former = *step.former, &phase = step.phase;
  const double growth = std::max(1.0, phase.throughput() / former.throughput());
  const double most = std::min(most_, std::max(least_, phase.at_work()));
  knee_.suppose(std::clamp(growth * former.at_work(), least_, most), kRestartSpread);
  careful_for_ = kCarefulFor;
  place();
}

// Ends a step that does not fill, or under which the limit no longer binds. If slots are held for
// longer all the same, requests wait at the upstream: the step did not help.
void PairedDither::leave_step(const Watch& step) {
  const double longest = step.is_slow_step ? kSlowLonger : kHeldLonger;
  const double held = step.phase.released > 0 ? step.phase.held() : 0;
  const bool is_queued = times_.unqueued() > 0 && held > kUnqueued * times_.unqueued();
  if (!is_queued && held <= longest * step.former->held()) return end_climbing(step);
  limit_ = std::min(step.limit, limit_);
}

// The limit no longer binds, or a step has paid: only the requests seen at work are proven. It may
// climb again.
void PairedDither::end_climbing(const Watch& step) {
  const double seen = step.phase.seconds > 0 ? kUnproven * step.phase.at_work() : 0;
  limit_ = rounded(std::clamp<double>(seen, std::min(step.limit, limit_), limit_));
  knee_.suppose(std::clamp<double>(limit_, least_, most_), kRestartSpread);
  place();
  tried_.climb = false;
}

}  // namespace spillway::overload
