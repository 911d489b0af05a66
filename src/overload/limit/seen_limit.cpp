#include "overload/limit/seen_limit.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::overload {
namespace {

constexpr double kRequestsOfLook = 100;
constexpr double kUnqueuedTimes = 1.25;  // times the least mean
constexpr double kSpareLimit = 1.25;     // times the requests at work
constexpr double kQuietRises = 3600;     // seconds, a time constant

}  // namespace

SeenLimit::SeenLimit(const config::AutoConcurrency& settings, std::uint32_t least)
    : least_(std::max(settings.min, std::min(least, settings.max))), most_(settings.max) {
  restart(settings.first());
}

void SeenLimit::restart(std::uint32_t limit) { limit_ = std::clamp(limit, least_, most_); }

void SeenLimit::step(const LimitSample& sample, TimePoint) {
  seconds_ += to_seconds(sample.span);
  slot_seconds_ += sample.slot_seconds;
  released_ += sample.released;
  if (released_ < kRequestsOfLook) return;
  const double held = slot_seconds_ / released_, at_work = slot_seconds_ / seconds_;
  quiet_ = quiet_ > 0 ? std::min(held, quiet_ * std::exp(seconds_ / kQuietRises)) : held;
  if (held <= kUnqueuedTimes * quiet_) {
    const double seen = std::min(std::ceil(kSpareLimit * at_work), double(most_));
    limit_ = std::max(limit_, static_cast<std::uint32_t>(seen));
  }
  seconds_ = slot_seconds_ = released_ = 0;
}

}  // namespace spillway::overload
