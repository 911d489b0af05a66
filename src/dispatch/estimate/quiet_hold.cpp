#include "dispatch/estimate/quiet_hold.hpp"

#include <algorithm>

namespace spillway::dispatch {
namespace {

// The minimum number of samples in a period.
constexpr std::uint32_t kEnough = 50;
// The first one may be shorter, as an overload may have begun already. With many slots it sees only
// those held for the shortest time; but with many slots, one is soon free in any case.
constexpr Duration kPeriod = std::chrono::seconds(5);

}  // namespace

void QuietHold::record(Duration held, bool is_quiet, TimePoint now) {
  if (count_ == 0) began_ = now;
  sum_ += to_seconds(std::max(held, Duration{0}));
  ++count_;
  is_quiet_ = is_quiet_ && is_quiet;
  if (count_ < kEnough) return;
  if (seconds_ && now - began_ < kPeriod) return;
  const double mean = sum_ / count_;
  seconds_ = is_quiet_ ? mean : std::min(mean, seconds_.value_or(mean));
  sum_ = 0;
  count_ = 0;
  is_quiet_ = true;
}

}  // namespace spillway::dispatch
