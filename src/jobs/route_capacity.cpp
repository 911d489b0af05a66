#include "jobs/route_capacity.hpp"

#include <algorithm>
#include <chrono>

namespace spillway::jobs {
namespace {

std::size_t less(std::size_t most, std::size_t taken) { return most > taken ? most - taken : 0; }

// How many are pulled beyond those running, so that no slot waits for the store.
constexpr std::size_t kLeastAhead = 8;
constexpr Duration kFirstRest = std::chrono::milliseconds(100);
constexpr Duration kLongestRest = std::chrono::seconds(1);
constexpr Duration kFirstPause = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::seconds(30);

}  // namespace

std::size_t RouteCapacity::room(const config::Defer& defer, const Upstream& upstream, TimePoint now,
                                const Caps& caps) const {
  if (pauses(now) || now < rests_until_) return 0;
  if (!defer.traffic_class && !has_spare_slots(upstream.state)) return 0;
  const std::size_t there = less(upstream.in_hand, upstream.running + upstream.passed);
  const std::size_t wanted = std::max(kLeastAhead, upstream.running);
  if (there * 2 > wanted) return 0;
  std::size_t most = less(wanted, there + upstream.asked);
  most = std::min(most, less(upstream.left, upstream.in_hand + upstream.asked));
  if (defer.concurrency)
    most = std::min(most, less(caps.concurrency.value_or(*defer.concurrency), in_use()));
  if (defer.rate) most = std::min(most, less(caps.soon, ahead(caps.running)));
  return most;
}

std::size_t RouteCapacity::ahead(std::size_t running) const {
  return less(in_hand_, running) + asked_;
}

TimePoint RouteCapacity::room_from(TimePoint now) const {
  return std::max({now + kLookAgain, paused_until_, rests_until_});
}

void RouteCapacity::answered(std::size_t asked, std::size_t pulled) {
  asked_ -= asked;
  in_hand_ += pulled;
}

void RouteCapacity::rest(TimePoint now, NoSlot how) {
  if (now < rests_until_) return;
  rests_for_slot_ = how == NoSlot::waited;
  if (!rests_for_slot_) last_rest_ = std::clamp(last_rest_ * 2, kFirstRest, kLongestRest);
  rests_until_ = now + (rests_for_slot_ ? kLongestRest : last_rest_);
}

// Shortens a longer rest to the first 100 ms: jobs that run for seconds would otherwise leave their
// slots unused.
void RouteCapacity::tried() {
  if (rests_for_slot_) rests_until_ = {};
  if (!rests_for_slot_ && last_rest_ > kFirstRest) rests_until_ -= last_rest_ - kFirstRest;
  last_rest_ = {};
}

void RouteCapacity::pause(TimePoint now, TimePoint until) {
  if (pauses(now)) return;
  last_pause_ = std::clamp(last_pause_ * 2, kFirstPause, kLongestPause);
  paused_until_ = std::max(std::min(until, now + kLongestPause), now + last_pause_);
}

void RouteCapacity::refused(TimePoint now, TimePoint until) {
  const bool others_succeed = last_success_ > last_refusal_;
  last_refusal_ = now;
  if (others_succeed || pauses(now)) return;
  paused_until_ = std::min({until, now + kLongestPause, now + (now - last_success_)});
}

}  // namespace spillway::jobs
