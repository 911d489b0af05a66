#include "overload/budget_hold.hpp"

#include <algorithm>
#include <utility>

namespace spillway::overload {
namespace {

using namespace std::chrono_literals;

constexpr Duration kRefuses = 1s;      // since the last refusal
constexpr double kStillOffered = 0.9;  // of what it served
constexpr Duration kFirstPatience = 1min;
constexpr Duration kMostPatience = 16min;

}  // namespace

void BudgetHold::step(const OverloadSignals& signals, const Input& input, TimePoint now) {
  const std::uint64_t before = std::exchange(refused_, input.refused).value_or(input.refused);
  if (input.refused != before) last_ = now;
  if (input.is_alarming) {
    served_ = input.is_normal ? signals.completed_rate : std::max(served_, signals.completed_rate);
    quiet_since_.reset();
    if (std::exchange(is_tried_, false)) patience_ = std::min(2 * patience_, kMostPatience);
  } else if (!quiet_since_) {
    quiet_since_ = now;
  }
  if (!input.is_normal) {
    normal_since_.reset();
    is_tried_ = is_tried_ || (quiet_since_ && now - *quiet_since_ > patience_);
  } else if (!normal_since_) {
    normal_since_ = now;
  } else if (now - *normal_since_ > kFirstPatience) {  // without the state all is well
    is_tried_ = false;
    patience_ = kFirstPatience;
  }
  holds_ = regulates_ && !input.is_normal && !is_tried_ && last_ && now - *last_ <= kRefuses &&
           signals.offered_rate >= kStillOffered * served_;
}

}  // namespace spillway::overload
