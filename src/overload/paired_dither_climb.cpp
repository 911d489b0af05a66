// What a paired dither does before it compares: a first look, a guess, and the climb.
#include <algorithm>
#include <cmath>
#include <utility>

#include "overload/dither_phases.hpp"
#include "overload/paired_dither.hpp"

namespace spillway::overload {
namespace {

using namespace dither;

// Times that without a queue, by when the first requests of a crowd have ended.
constexpr double kCrowdEnds = 1.5;

// It does not climb where slots are held for longer: one step too many would delay requests by as
// much again.
constexpr double kClimbsHeld = 0.3;  // seconds
constexpr double kUnqueued = 1.25;   // times without a queue
// Where slots are held for less, a larger step delays little.
constexpr double kShortlyHeld = 0.06;  // seconds
constexpr double kLargeStep = 4;
constexpr double kStep = 2;
// Growth of throughput by that of work. A proxy that takes it from others holds its slots longer.
constexpr double kPays = 0.75;
constexpr double kHeldLonger = 1.12;
constexpr double kShortestStep = 0.2;  // seconds
constexpr double kFewestOfStep = 120;  // successes: a deviation of 0.1 of the growth
constexpr double kFilledStep = 0.4;    // of a step
constexpr double kUnproven = 1.3;      // times the requests that were seen at work

constexpr Milliseconds kMoment{600};

// By the wall clock, so that proxies before one upstream step together: one that steps alone takes
// throughput from the others.
bool is_common_moment(const LimitSample& sample) {
  return sample.wall / kMoment != (sample.wall - sample.span) / kMoment;
}

}  // namespace

// The first phase, since a guess may come of it, or after cuts that were taken back.
void PairedDither::begin_watching(TimePoint now) {
  watch_ = Watch{
      .phase = {}, .settled = now + from_seconds(kSettles * held_), .former = {}, .limit = limit_};
}

void PairedDither::watch(const LimitSample& sample, TimePoint now) {
  if (idle_for_ >= kIdle) {
    if (watch_->former) end_climbing(*watch_);
    return stop();
  }
  if (now - sample.span < watch_->settled) return;
  count(watch_->phase, sample);
  const bool is_step = watch_->former || may_climb();
  if (is_step && !is_common_moment(sample)) return;
  const bool is_done = is_step ? is_enough_of_step(watch_->phase) : is_enough(watch_->phase);
  if (!is_done && !shows_queue(watch_->phase)) return;
  const Watch seen = *std::exchange(watch_, std::nullopt);
  if (seen.former) return judge_step(seen, sample.span, now);
  const Phase& done = seen.phase;
  if (std::max(done.succeeded, done.released) < kFewest / 3) return stop();  // too slow to tell
  if (!std::exchange(tried_.guess, true)) {
    if (const auto number = guess(done.released / done.seconds, done.at_work())) {
      recover_to_ = std::max(known_good(), recover_to_);
      knee_.suppose_at_least(*number, std::min(done.at_work(), most_));
      place();
      tried_.climb = true;
    }
  }
  const bool climbs = may_climb() && done.succeeded >= kFewest;
  climbs ? begin_climbing(done, now) : begin_comparing(sample.span, now);
}

// Enough for a first guess, if clients are about to leave. Not before the time of a whole request:
// until the first ones of a crowd have ended, few slots are given back.
bool PairedDither::shows_queue(const Phase& phase) const {
  const double shortest = std::max(to_seconds(kShortest), kCrowdEnds * times_.quiet());
  return !tried_.guess && phase.seconds >= shortest && phase.released >= kFewest &&
         guess(phase.released / phase.seconds, phase.at_work());
}

bool PairedDither::is_enough_of_step(const Phase& phase) const {
  if (phase.seconds >= to_seconds(kIdle) && is_enough(phase)) return true;
  return phase.succeeded >= kFewestOfStep && phase.seconds >= std::max(kShortestStep, held_);
}

bool PairedDither::may_climb() const {
  return !tried_.climb && !brakes_ && careful_for_ <= Duration{0} && limit_ < most_ &&
         held_ <= kClimbsHeld && times_.stretch().value_or(1) <= kUnqueued;
}

void PairedDither::begin_climbing(const Phase& former, TimePoint now) {
  tried_.climb = true;
  const double step = former.held() <= kShortlyHeld ? kLargeStep : kStep;
  watch_ = Watch{.phase = {},
                 .settled = now + from_seconds(kSettles * held_),
                 .former = former,
                 .limit = limit_};
  limit_ = rounded(std::min(step * limit_, most_));
  times_.restart();
}

// A step. Another one follows, or the limit is found by turns from where the last one paid.
void PairedDither::judge_step(const Watch& step, Duration tick, TimePoint now) {
  const Phase &former = *step.former, &phase = step.phase;
  const double more = std::log(phase.at_work() / former.at_work());
  const double growth = std::log(phase.throughput() / former.throughput());
  const bool is_filled = more >= kFilledStep * std::log(kStep);
  const bool pays = growth >= kPays * more && phase.held() <= kHeldLonger * former.held();
  if (!is_filled || pays) end_climbing(step);
  if (is_filled && pays && limit_ < most_) return begin_climbing(phase, now);
  if (is_filled && !pays) {  // nothing is learned by it: turns that all proxies share say it better
    held_ = former.held();
    times_.restart();
  }
  begin_comparing(tick, now);
}

// The limit no longer binds, or a step has paid: what was not at work is not proven. It may climb
// again.
void PairedDither::end_climbing(const Watch& step) {
  const double seen = step.phase.seconds > 0 ? kUnproven * step.phase.at_work() : 0;
  limit_ = rounded(std::clamp<double>(seen, std::min(step.limit, limit_), limit_));
  knee_.suppose(std::clamp<double>(limit_, least_, most_), kRestartSpread);
  place();
  tried_.climb = false;
}

}  // namespace spillway::overload
