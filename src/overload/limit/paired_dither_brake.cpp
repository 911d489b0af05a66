// The brake of a paired dither: it cuts the limit while clients leave before they are served.
#include <algorithm>
#include <cmath>
#include <utility>

#include "overload/limit/dither_phases.hpp"
#include "overload/limit/paired_dither.hpp"

namespace spillway::overload {
namespace {

using namespace std::chrono_literals;
using namespace dither;

// While a smaller share of the dispatched requests is answered, clients leave before being served.
constexpr double kFewestAnswered = 0.5;
constexpr Duration kBrakePause = 2s;
constexpr Duration kLongestInVain = 16min;
// The longest time until the requests at work above the limit have ended: this, or this many times
// as long as a request held its slot.
constexpr Duration kLongestDrain = 2min;
constexpr double kDrainTimes = 3;
constexpr Duration kMostDrain = 10min;
// Before the first cut: seconds, and this many slots given back or the longer time.
constexpr double kLeaving = 2;
constexpr double kEnoughLeaving = 8;
constexpr double kLongestLeaving = 20;
constexpr double kJudged = 3;  // seconds after a cut
// After a cut it is known whether clients stay once this many slots were given back, or sooner if
// the counts of clients that left and that stayed differ by this many standard deviations.
constexpr double kEnoughReleased = 20;
constexpr double kDeviations = 2.5;
constexpr double kVerdictSoonest = 1;  // seconds
// After this many slots given back the memory of LimitSampler has been renewed.
constexpr double kFreshReleased = 80;
constexpr double kNoEvidenceSoon = 20;  // seconds, if evidence is timed
// Below this share, where a cut takes long to be judged, the next one is twice as large.
constexpr double kHardlyAnswered = 0.1;
constexpr double kEnoughServed = 8;
constexpr double kStillServed = 0.6;  // share of those before the cut
constexpr double kServedMore = 1.2;
constexpr double kDrained = 1.05;

}  // namespace

void PairedDither::Served::add(const LimitSample& sample) {
  seconds += to_seconds(sample.span);
  succeeded += sample.succeeded;
  released += sample.released;
  left += sample.left;
}

// nullopt: not known. After a cut, requests admitted before it are no evidence.
std::optional<bool> PairedDither::do_clients_leave(const LimitSample& sample) const {
  if (!brakes_ || !brakes_->is_counted) {
    if (!sample.answered) return std::nullopt;
    return *sample.answered < kFewestAnswered;
  }
  const Served& since = brakes_->since;
  const double stayed = since.released - since.left;
  const double more = std::abs(stayed - since.left);
  const bool is_clear = more * more >= kDeviations * kDeviations * std::max(since.released, 1.0);
  if (since.seconds < kVerdictSoonest || (since.released < kEnoughReleased && !is_clear))
    return std::nullopt;
  return stayed < kFewestAnswered * since.released;
}

// Whether the sampler's memory is of this time. If not, it would cause a cut for the past.
bool PairedDither::is_fresh(const LimitSample& sample) const {
  const Served& since = brakes_->since;
  if (!brakes_->is_counted) return sample.answered || since.seconds > kNoEvidenceSoon;
  return since.released >= kFreshReleased || since.seconds >= kNoEvidence;
}

// Counts while clients leave, or since the last cut.
void PairedDither::note_served(const LimitSample& sample, bool leave) {
  if (!brakes_) {
    if (!leave) leaving_ = {};
    if (leave) leaving_.add(sample);
    return;
  }
  if (!brakes_->is_drained) {
    brakes_->is_drained = is_drained(sample);
    brakes_->stale = limit_;
  }
  if (!brakes_->is_drained) return;
  if (brakes_->is_counted && brakes_->stale > 0) {
    brakes_->stale -= sample.released;
  } else {
    brakes_->since.add(sample);
  }
}

// Clients leave before they are answered. As far as their requests still hold slots, waits until
// these are given back; then cuts further.
void PairedDither::brake(const LimitSample& sample, TimePoint now) {
  const double at_work = sample.slot_seconds / to_seconds(sample.span);
  const Duration pause = pause_between_cuts();
  if (brakes_ && !is_drained(sample)) pause_.until = now + pause;
  if (now < pause_.until || leaving_.seconds < kLeaving) return;
  if (sample.are_few && leaving_.released < kEnoughLeaving && leaving_.seconds < kLongestLeaving)
    return;
  if (brakes_ && brakes_->since.seconds < kJudged &&
      brakes_->before.rate() * kJudged >= kEnoughServed)
    return;  // the last cut is not judged yet
  if (brakes_ && low_limit() <= least_) return give_back(now);
  if (!brakes_) {
    brakes_ = Brakes{
        .limit = double(limit_), .before = leaving_, .last = now, .is_counted = sample.are_few};
    recover_to_ = std::max(known_good(), recover_to_);
  }
  brakes_->since = {};
  brakes_->is_drained = false;
  brakes_->last = now;
  tried_.guess = tried_.cut = true;  // at this upstream
  const bool are_none = brakes_->is_counted && sample.answered.value_or(1) < kHardlyAnswered;
  const double part = are_none ? 4 : 2;
  const double half = std::max(least_, std::min(at_work, std::exp(low_)) / part);
  const double guessed = guess(times_.released_rate(), at_work).value_or(half);
  knee_.suppose(std::min(half, std::max(guessed, half / 4)), kFirstSpread / 2);
  pause_.until = now + pause;
  careful_for_ = kCarefulFor;
  watch_.reset();  // to compare again when clients stay
  comparison_.reset();
  place();
  limit_ = high_limit();
  times_.restart();
}

bool PairedDither::is_drained(const LimitSample& sample) const {
  return sample.slot_seconds / to_seconds(sample.span) <= kDrained * limit_ + 0.5;
}

// Fewer are served than before; or hardly more, and there is no evidence whether clients stay.
bool PairedDither::is_in_vain(TimePoint now) const {
  const Served& since = brakes_->since;
  const double before = brakes_->before.rate();
  if (now - brakes_->last > longest_drain() && (!brakes_->is_counted || since.seconds == 0))
    return true;
  const double no_evidence = brakes_->is_counted ? kNoEvidence : kNoEvidenceSoon;
  const bool is_known = brakes_->is_counted && since.released >= kEnoughReleased;
  if (!is_known && since.seconds > no_evidence && since.rate() <= kServedMore * before) return true;
  return since.seconds >= kJudged && before * since.seconds >= kEnoughServed &&
         since.rate() < kStillServed * before;
}

// A request that holds its slot for long has many others ahead of it.
Duration PairedDither::longest_drain() const {
  if (!brakes_->is_counted) return kLongestDrain;
  const Duration held = from_seconds(kDrainTimes * times_.recent().value_or(held_));
  return std::clamp<Duration>(held, kLongestDrain, kMostDrain);
}

// Where evidence is counted, the count determines when the next cut may come.
Duration PairedDither::pause_between_cuts() const {
  if (brakes_ && brakes_->is_counted) return kBrakePause;
  return std::max<Duration>(kBrakePause, from_seconds(2 * held_));
}

void PairedDither::give_back(TimePoint now) {
  const double former = std::exchange(brakes_, std::nullopt)->limit;
  pause_.until = now + pause_.if_in_vain;
  pause_.if_in_vain = std::min(2 * pause_.if_in_vain, kLongestInVain);
  collapse_.rest(pause_.until);
  return_to(former, now);
}

}  // namespace spillway::overload
