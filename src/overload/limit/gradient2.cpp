#include "overload/limit/gradient2.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::overload {
namespace {

constexpr Duration kWindow = std::chrono::seconds(1);
constexpr std::uint32_t kFewestSamples = 10;
constexpr double kTolerated = 1.5;
constexpr double kSmoothing = 0.2;
constexpr double kQueue = 4;           // requests that may wait at the upstream
constexpr double kUsualWeight = 0.01;  // of a window in the long-term average
constexpr double kForget = 0.95;       // of the long-term average, while twice the current one

}  // namespace

Gradient2::Gradient2(const config::AutoConcurrency& settings, std::uint32_t least)
    : least_(std::max(settings.min, std::min(least, settings.max))), most_(settings.max) {
  restart(settings.first());
}

void Gradient2::restart(std::uint32_t limit) {
  limit_ = std::clamp<double>(limit, least_, most_);
  window_ = {};
}

std::uint32_t Gradient2::limit() const { return static_cast<std::uint32_t>(std::lround(limit_)); }

void Gradient2::step(const LimitSample& sample, TimePoint) {
  window_.span += sample.span;
  window_.slot_seconds += sample.slot_seconds;
  window_.succeeded += sample.succeeded;
  if (window_.span < kWindow || window_.succeeded < kFewestSamples) return;
  const double at_work = window_.slot_seconds / to_seconds(window_.span);
  const double latency = window_.slot_seconds / window_.succeeded;
  window_ = {};
  usual_ = usual_ == 0 ? latency : usual_ + kUsualWeight * (latency - usual_);
  if (usual_ > 2 * latency) usual_ *= kForget;
  if (at_work < limit_ / 2) return;
  const double gradient = std::clamp(kTolerated * usual_ / latency, 0.5, 1.0);
  const double wanted = limit_ * gradient + kQueue;
  limit_ = std::clamp(limit_ + kSmoothing * (wanted - limit_), least_, most_);
}

}  // namespace spillway::overload
