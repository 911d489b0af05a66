#include "dispatch/scheduler/target_wait.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::dispatch {
namespace {

constexpr double kSmoothing = 0.1;     // a second of periods
constexpr double kFastestRise = 0.04;  // per period, of the logarithm
constexpr double kFastestFall = kFastestRise / 20;

}  // namespace

void TargetWait::end_period(double busy, double slots, TimePoint now) {
  const double lasted = to_seconds(now - *began_);
  const bool counts = has_refused_ && slots > 0;
  const double used = (busy - busy_at_beginning_) / (slots * lasted);
  begin(busy, now);
  if (!counts) return;
  const double idle = std::clamp(1 - used, 0.0, 1.0);
  idle_share_ = idle_share_ ? *idle_share_ + (idle - *idle_share_) * kSmoothing : idle;
  if (!adapts_) return;
  const double error = *idle_share_ / kIdleShare - 1;
  const double step = std::clamp(error * kFastestRise, -kFastestFall, kFastestRise);
  target_ = std::clamp(from_seconds(to_seconds(target_) * std::exp(step)), least_, most_);
}

}  // namespace spillway::dispatch
