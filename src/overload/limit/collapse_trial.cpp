#include "overload/limit/collapse_trial.hpp"

#include <algorithm>

namespace spillway::overload {
namespace {

using namespace std::chrono_literals;

constexpr Duration kHasLasted = 300ms;  // of a collapse, before a trial
// Unless the number of requests at work falls by a tenth each time within this time, the requests
// above the limit are long ones, and the upstream is not slow.
constexpr Duration kStuck = 3s;
constexpr double kFell = 0.9;
constexpr double kAreGone = 1.05;
// Length of the verdict: in successes at the best throughput, within these bounds in seconds.
constexpr double kVerdict = 40;
constexpr double kSoonest = 1;
constexpr double kLatest = 3;
constexpr double kAsMuch = 0.6;  // share of the best throughput
constexpr Duration kFirstRest = 60s;
constexpr Duration kMostRest = 16min;

}  // namespace

CollapseTrial::CollapseTrial() : rest_(kFirstRest) {}

void CollapseTrial::observe(const LimitSample& sample) {
  best_.step(sample);
  collapsed_for_ = best_.has_collapsed() ? collapsed_for_ + sample.span : Duration{0};
}

CollapseTrial::Act CollapseTrial::decide(const LimitSample& sample, std::uint32_t limit,
                                         double least, TimePoint now) {
  if (trial_) return judge(sample, limit, now);
  const bool has_room = limit > std::max<double>(2 * best_.at_work() + 1, least);
  if (now < rest_until_ || collapsed_for_ < kHasLasted || !has_room) return Act::none;
  former_ = limit;
  trial_ = Trial{.fell = now, .at_work = sample.slot_seconds / to_seconds(sample.span)};
  return Act::cut;
}

CollapseTrial::Act CollapseTrial::judge(const LimitSample& sample, std::uint32_t limit,
                                        TimePoint now) {
  const double span = to_seconds(sample.span);
  const double at_work = sample.slot_seconds / span;
  if (trial_->seconds > 0 || at_work <= kAreGone * limit + 0.5) {
    trial_->seconds += span;
    trial_->succeeded += sample.succeeded;
  } else if (at_work < kFell * trial_->at_work) {
    trial_->at_work = at_work;
    trial_->fell = now;
  }
  const double enough = std::clamp(kVerdict / best_.rate(), kSoonest, kLatest);
  const bool is_stuck = trial_->seconds == 0 && now - trial_->fell > kStuck;
  if (trial_->seconds < enough && !is_stuck) return Act::wait;
  const double rate = trial_->seconds > 0 ? trial_->succeeded / trial_->seconds : 0;
  trial_.reset();
  const bool helps = rate >= kAsMuch * best_.rate();
  if (!sample.has_waiters || helps) {
    rest_ = kFirstRest;
    return helps ? Act::keep : Act::none;
  }
  rest(now + rest_);
  rest_ = std::min(2 * rest_, kMostRest);
  return Act::give_back;
}

void CollapseTrial::rest(TimePoint until) { rest_until_ = std::max(rest_until_, until); }

}  // namespace spillway::overload
