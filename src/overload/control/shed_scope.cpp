#include "overload/control/shed_scope.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace spillway::overload {
namespace {

// Thresholds of offered work / work that the upstream can do. In between nothing changes.
constexpr double kOver = 1.0;
constexpr double kWithin = 0.97;
constexpr double kNear = 0.9;
// The mean that decides whether budgets are in force. A higher load than kMostLoad counts as that.
constexpr double kLoadMemory = 5;  // seconds
constexpr double kMostLoad = 2;
// Replaces kNear for as long as kSoon once a state has returned within that time: its load makes it
// begin and end by chance, or a rule makes requests so cheap that it ends.
constexpr double kNearAgain = 0.5;
// A state that ends under a limit this many times the highest one in NORMAL so far began because
// the limit was too low, as at a start with "auto". It does not begin and end by chance.
constexpr double kGrown = 1.25;
// Time constant of counting turns, and the time for a cut to go from nothing to all.
constexpr double kTurnMemory = 1;  // seconds
constexpr double kCutTime = 2;     // seconds
// Up to this factor times its guaranteed share, and this much more, a class has only that share.
constexpr double kShareTimes = 1.2;
constexpr double kShareMore = 0.01;

}  // namespace

ShedScope::ShedScope(const config::Config& config, const config::Upstream& upstream)
    : target_wait_(to_seconds(upstream.dispatch.target_wait)),
      regulates_(upstream.overload.regulate),
      recent_(config.classes.size()) {
  for (const config::TrafficClass& each : config.classes)
    min_share_.push_back(each.min_share.value_or(0));
}

void ShedScope::continue_from(const ShedScope& former) {
  if (!regulates_ || former.recent_.size() != recent_.size()) return;
  is_over_ = former.is_over_;
  usual_load_ = former.usual_load_;
  is_near_ = former.is_near_;
  levels_ = former.levels_;
  recent_ = former.recent_;
  state_ = former.state_;
  highest_limit_ = former.highest_limit_;
}

void ShedScope::step(std::optional<double> offered_load, const Turns& turns, TimePoint now) {
  const std::optional<TimePoint> last = std::exchange(last_, now);
  if (!regulates_ || turns.started.size() != recent_.size()) return;
  const double seconds = last ? to_seconds(now - *last) : 0;
  count(turns.started, seconds);
  is_over_ = !offered_load || *offered_load >= (is_over_ ? kWithin : kOver);

  state_.step(turns.is_normal, now);
  if (turns.is_normal) {
    if (turns.limit > kGrown * highest_limit_) state_.forget_last();
    highest_limit_ = std::max(highest_limit_, turns.limit);
  }
  // The requests that a budget refuses in this state may have room.
  if (turns.budget_refused) state_.forget();
  const std::optional<TimePoint> came_back = state_.came_back();
  const bool is_again = came_back && now - *came_back <= ReturningState::kSoon;
  is_near_ = !offered_load || *offered_load >= (is_again ? kNearAgain : kNear);
  judge_budgets(offered_load, seconds);

  levels_.in_scope = 0;
  bool lower_are_down = is_over_;
  for (std::size_t i = recent_.size(); i-- > 0;) {
    if (lower_are_down) levels_.in_scope |= std::uint32_t{1} << i;
    const auto higher = turns.predicted_wait.first(std::min(i, turns.predicted_wait.size()));
    const bool higher_wait =
        std::any_of(higher.begin(), higher.end(), [&](double wait) { return wait > target_wait_; });
    const bool cuts = lower_are_down && higher_wait && !is_down(i);
    const double by = (cuts ? 1 : -1) * seconds / kCutTime;
    levels_.cut[i] = std::clamp(levels_.cut[i] + static_cast<float>(by), 0.0f, 1.0f);
    lower_are_down = lower_are_down && is_down(i);
  }
}

// If nothing is finished, budgets are in force.
void ShedScope::judge_budgets(std::optional<double> offered_load, double seconds) {
  const double kept = std::exp(-seconds / kLoadMemory);
  const double load = std::min(offered_load.value_or(kMostLoad), kMostLoad);
  usual_load_ = usual_load_ * kept + load * (1 - kept);
  const bool was = levels_.budgets && is_over_;
  levels_.budgets = is_over_ && (!offered_load || usual_load_ >= (was ? kWithin : kOver));
}

void ShedScope::count(std::span<const std::uint64_t> started, double seconds) {
  const double kept = std::exp(-seconds / kTurnMemory);
  started_.resize(started.size(), 0);
  for (std::size_t i = 0; i < started.size(); ++i) {
    recent_[i] = recent_[i] * kept + double(started[i] - started_[i]);
    started_[i] = started[i];
  }
}

bool ShedScope::is_down(std::size_t i) const {
  const double all = std::accumulate(recent_.begin(), recent_.end(), 0.0);
  return all > 0 && recent_[i] <= (kShareTimes * min_share_[i] + kShareMore) * all;
}

}  // namespace spillway::overload
