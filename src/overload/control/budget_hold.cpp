#include "overload/control/budget_hold.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spillway::overload {
namespace {

using namespace std::chrono_literals;

constexpr Duration kRefuses = 1s;  // after the last refusal
constexpr double kMoreThanProven = 1.1;
constexpr Duration kProvenFor = 5min;  // a time constant
constexpr Duration kFirstPatience = 1min;
constexpr Duration kMostPatience = 16min;

// Event-loop lag and errors have their own regulator.
bool is_by_load(Reason reason) { return is_capacity(reason) || reason == Reason::tail_latency; }

}  // namespace

void BudgetHold::step(const OverloadSignals& signals, const Input& input, TimePoint now) {
  note_state(signals, input.state, now);
  if (input.has_refused) refused_ = now;
  const bool would_return = is_on_ && input.state != State::normal && is_by_load(input.reason) &&
                            refused_ && now - *refused_ <= kRefuses &&
                            signals.offered_rate > kMoreThanProven * proven_;
  if (would_return && !held_since_) held_since_ = now;
  if (held_since_ && now - *held_since_ > patience_) is_tried_ = true;
  holds_ = would_return && !is_tried_;
}

void BudgetHold::note_state(const OverloadSignals& signals, State state, TimePoint now) {
  const Duration passed = now - std::exchange(last_step_, now).value_or(now);
  proven_ *= std::exp(-to_seconds(passed) / to_seconds(kProvenFor));
  if (std::exchange(state_, state) < state) {
    if (std::exchange(is_tried_, false)) patience_ = std::min(2 * patience_, kMostPatience);
    held_since_.reset();
  }
  if (state != State::normal) {
    normal_since_.reset();
    return;
  }
  proven_ = std::max(proven_, signals.served_rate);
  held_since_.reset();
  if (!normal_since_) normal_since_ = now;
  if (now - *normal_since_ <= kFirstPatience) return;
  is_tried_ = false;
  patience_ = kFirstPatience;
}

}  // namespace spillway::overload
