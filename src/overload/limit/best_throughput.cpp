#include "overload/limit/best_throughput.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::overload {
namespace {

// Time constant of the recent mean, as a number of successes at the best throughput.
constexpr double kMeanOf = 20;
constexpr double kShortestMean = 0.3;  // seconds
constexpr double kForgets = 600;       // seconds, time constant of forgetting
constexpr double kFarFewer = 0.4;
constexpr double kFarMore = 2.5;
constexpr double kAsMany = 0.5;  // share of the best rate, which is in part chance

}  // namespace

void BestThroughput::step(const LimitSample& sample) {
  const double span = to_seconds(sample.span);
  const double at_work = sample.slot_seconds / span;
  const double rate = sample.succeeded / span;
  if (successes_ < kMeanOf) {
    seconds_ += span;
    successes_ += sample.succeeded;
    recent_.rate = successes_ / seconds_;
    recent_.at_work += (at_work - recent_.at_work) * span / seconds_;
    if (successes_ >= kMeanOf) best_ = recent_;
    return;
  }
  const double memory = std::max(kMeanOf / std::max(best_.rate, 1e-9), kShortestMean);
  const double fresh = 1 - std::exp(-span / memory);
  recent_.rate += fresh * (rate - recent_.rate);
  recent_.admitted += fresh * (sample.admitted / span - recent_.admitted);
  recent_.at_work += fresh * (at_work - recent_.at_work);
  best_.rate *= std::exp(-span / kForgets);
  if (recent_.rate > best_.rate) best_ = recent_;
}

bool BestThroughput::has_collapsed() const {
  return best_.rate > 0 && recent_.rate < kFarFewer * best_.rate &&
         recent_.admitted >= kAsMany * best_.rate &&
         recent_.at_work > kFarMore * std::max(best_.at_work, 1.0);
}

}  // namespace spillway::overload
