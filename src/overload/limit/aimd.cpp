#include "overload/limit/aimd.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::overload {
namespace {

constexpr double kDecrease = 0.9;
constexpr double kAnswered = 0.95;  // below this share of the dispatched, some were lost

}  // namespace

Aimd::Aimd(const config::AutoConcurrency& settings, std::uint32_t least)
    : least_(std::max(settings.min, std::min(least, settings.max))), most_(settings.max) {
  restart(settings.first());
}

void Aimd::restart(std::uint32_t limit) { limit_ = std::clamp<double>(limit, least_, most_); }

std::uint32_t Aimd::limit() const { return static_cast<std::uint32_t>(std::lround(limit_)); }

void Aimd::step(const LimitSample& sample, TimePoint) {
  const double at_work = sample.slot_seconds / to_seconds(sample.span);
  if (sample.answered.value_or(1) < kAnswered) {
    limit_ = std::max(least_, limit_ * kDecrease);
  } else if (2 * at_work >= limit_) {
    limit_ = std::min(most_, limit_ + 1);
  }
}

}  // namespace spillway::overload
