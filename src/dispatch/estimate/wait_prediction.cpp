#include "dispatch/estimate/wait_prediction.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::dispatch {
namespace {

constexpr Milliseconds kSlice{100};
constexpr double kFadingPerSlice = 0.9;

}  // namespace

void HoldTime::record(Duration held, TimePoint now) {
  if (!slice_began_) slice_began_ = now;
  if (const auto slices = (now - *slice_began_) / kSlice; slices > 0) {
    *slice_began_ += slices * kSlice;
    if (weight_ > kEnoughSamples) {
      const double fading =
          std::max(std::pow(kFadingPerSlice, double(slices)), kEnoughSamples / weight_);
      sum_ *= fading;
      weight_ *= fading;
    }
  }
  sum_ += to_seconds(std::max(held, Duration{0}));
  weight_ += 1;
  enough_ = enough_ || weight_ >= kEnoughSamples;
}

double predict_wait(const Backlog& backlog, double mean_hold) {
  double holds = backlog.turns / backlog.slots;
  if (backlog.own_slots > 0) holds = std::max(holds, backlog.own_turns / backlog.own_slots);
  if (backlog.reserved_slots > 0)
    holds = std::min(holds, backlog.own_turns / backlog.reserved_slots);
  return holds * mean_hold;
}

}  // namespace spillway::dispatch
