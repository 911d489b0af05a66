#include "dispatch/scheduler/dynamic_weight.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::dispatch {
namespace {

constexpr Duration kLongestRise = Milliseconds{100};

}  // namespace

double DynamicWeight::update(Duration predicted, TimePoint now) {
  const Duration elapsed = updated_ ? now - *updated_ : Duration(kStep);
  updated_ = now;
  if (predicted > target_)
    boost_ *= std::exp2(to_seconds(std::min(elapsed, kLongestRise)) / to_seconds(kDoubling));
  else
    boost_ *= std::exp2(-to_seconds(elapsed) / to_seconds(kHalving));
  boost_ = std::clamp(boost_, 1.0, kMaxBoost);
  return boost_;
}

}  // namespace spillway::dispatch
