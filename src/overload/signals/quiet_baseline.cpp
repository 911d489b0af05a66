#include "overload/signals/quiet_baseline.hpp"

#include <cstddef>
#include <utility>

namespace spillway::overload {
namespace {

constexpr Duration kPart = std::chrono::seconds(5);
constexpr std::uint32_t kPartsOfMinute = 12;
constexpr Duration kGivenUp = std::chrono::minutes(10);
constexpr std::uint64_t kEnoughForBaseline = 200;

}  // namespace

void QuietBaseline::add(const BucketCounts& slice, Duration span, const Times& times) {
  if (!times.low_load || !times.normal) {
    fresh_ = waiting_ = {};
    collected_ = Duration{0};
    if (times.normal) contradicted_ = Duration{0};
    if (times.calm && !times.normal) contradicted_ += span;
    if (contradicted_ >= kGivenUp) *this = QuietBaseline();
    return;
  }
  contradicted_ = Duration{0};
  for (std::size_t i = 0; i < kBucketCount; ++i) fresh_[i] += slice[i];
  collected_ += span;
  if (collected_ >= kPart) take_in();
}

void QuietBaseline::take_in() {
  for (std::size_t i = 0; i < kBucketCount; ++i) minute_[i] += waiting_[i];
  waiting_ = std::exchange(fresh_, BucketCounts{});
  collected_ = Duration{0};
  if (total(waiting_) == 0) return;  // minutes without requests teach nothing
  if (++parts_ < kPartsOfMinute) return;
  parts_ = 0;
  minutes_.add_slice(std::exchange(minute_, BucketCounts{}));
}

std::optional<Duration> QuietBaseline::quantile(double q) const {
  BucketCounts all = minutes_.counts();
  for (std::size_t i = 0; i < kBucketCount; ++i) all[i] += minute_[i];
  if (total(all) < kEnoughForBaseline) return std::nullopt;
  return overload::quantile(all, q);
}

}  // namespace spillway::overload
