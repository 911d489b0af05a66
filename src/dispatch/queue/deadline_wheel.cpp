#include "dispatch/queue/deadline_wheel.hpp"

#include <algorithm>

namespace spillway::dispatch {
namespace {

std::int64_t tick_of(TimePoint t) { return t.time_since_epoch() / DeadlineWheel::kBucket; }

}  // namespace

void DeadlineWheel::insert(Waiter& waiter, TimePoint now) {
  if (cursor_ < 0) cursor_ = tick_of(now);
  file(waiter);
  if (waiter.expires_at <= collected_) collected_ = TimePoint::min();
}

void DeadlineWheel::file(Waiter& waiter) {
  const auto horizon = cursor_ + static_cast<std::int64_t>(kBuckets) - 1;
  const auto tick = std::clamp(tick_of(waiter.expires_at), cursor_, horizon);
  buckets_[static_cast<std::size_t>(tick) % kBuckets].push_back(waiter);
}

void DeadlineWheel::collect(TimePoint now, WheelList& due) {
  if (cursor_ < 0 || now <= collected_) return;
  collected_ = now;
  const std::int64_t present = tick_of(now);
  // After a pause longer than the wheel every bucket is visited once.
  std::int64_t tick = std::max(cursor_, present - static_cast<std::int64_t>(kBuckets) + 1);
  cursor_ = std::max(cursor_, present);
  for (; tick <= present; ++tick) {
    WheelList bucket;  // moved out first, since waiters filed again may belong in the same one
    bucket.append(buckets_[static_cast<std::size_t>(tick) % kBuckets]);
    while (Waiter* waiter = bucket.pop_front()) {
      if (waiter->expires_at <= now)
        due.push_back(*waiter);
      else
        file(*waiter);
    }
  }
}

}  // namespace spillway::dispatch
