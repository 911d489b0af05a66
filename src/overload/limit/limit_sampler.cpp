#include "overload/limit/limit_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "resilience/slot_terms.hpp"

namespace spillway::overload {
namespace {

// Seconds for which a request that left counts; where few are dispatched, as long as it takes to
// dispatch kRemembered, within bounds.
constexpr double kLeftMemory = 2;
constexpr double kRemembered = double(kEnoughSamples);
constexpr double kLongestMemory = 60;
constexpr double kFewBelow = 10;        // a second, over the last minute
constexpr double kFewestAdmitted = 15;  // to be evidence: the last ones fade while none comes

// After a change of the servers in rotation: this many times as long as a slot is held, within
// bounds.
constexpr double kSettles = 1.5;
constexpr double kSettlesSoonest = 0.5;  // seconds
constexpr double kSettlesLatest = 5;

// Share of the slots in use. Fewer slow clients delay no others, whatever else is late.
constexpr double kHoldingUp = 0.125;

double part_kept(double admitted, bool are_few, Duration span) {
  const double by_time = std::exp(-to_seconds(span) / kLeftMemory);
  if (!are_few) return by_time;
  const double by_number = kRemembered / std::max(admitted, kRemembered);
  return std::min(std::max(by_time, by_number), std::exp(-to_seconds(span) / kLongestMemory));
}

bool is_held_up(const TickInput& input, std::uint32_t in_use) {
  if (input.behind_others == 0) return false;
  const std::uint32_t slow = input.awaiting_client;
  const std::uint32_t at_work = resilience::at_work(static_cast<std::uint32_t>(input.concurrency),
                                                    in_use, input.behind_others);
  return slow > std::max(1.0, kHoldingUp * in_use) && slow > resilience::kPlentifulShare * at_work;
}

}  // namespace

std::optional<LimitSample> LimitSampler::take(const TickInput& input,
                                              const OverloadSignals& signals, TimePoint now) {
  std::uint32_t succeeded = 0, ended = 0, offered = 0, admitted = 0;
  for (const SignalShard* shard : input.shards) {
    succeeded += shard->succeeded();
    ended += shard->succeeded() + shard->failed();
    offered += shard->offered();
    admitted += shard->admitted();
  }
  const std::uint32_t waiting = std::accumulate(input.queued.begin(), input.queued.end(), 0u);
  LimitSample sample{.wall = input.wall};
  sample.slot_seconds =
      input.busy_slot_seconds - std::exchange(slot_seconds_, input.busy_slot_seconds);
  sample.succeeded = succeeded - std::exchange(succeeded_, succeeded);
  const std::uint32_t new_offered = offered - std::exchange(offered_, offered);
  const std::uint32_t new_admitted = admitted - std::exchange(admitted_, admitted);
  sample.admitted = new_admitted;
  const std::uint32_t before = std::exchange(waiting_, waiting);
  const bool is_over = !signals.offered_load || *signals.offered_load >= 1;
  sample.has_waiters = waiting > 0;
  sample.is_short = is_over && (waiting > 0 || before + new_offered > new_admitted);
  const std::uint32_t new_ended = ended - std::exchange(ended_, ended);
  const std::optional<TimePoint> last = std::exchange(last_, now);
  if (!last || now <= *last) return std::nullopt;
  sample.span = now - *last;
  const double running = sample.slot_seconds / to_seconds(sample.span);
  sample.released = double(new_admitted) - (running - std::exchange(running_, running));
  sample.left = sample.released - new_ended;
  note_rate(sample);
  const double kept = part_kept(recent_admitted_, sample.are_few, sample.span);
  recent_admitted_ = recent_admitted_ * kept + new_admitted;
  recent_left_ = recent_left_ * kept + sample.left;
  if (recent_admitted_ >= (sample.are_few ? kFewestAdmitted : kRemembered))
    sample.answered = std::clamp(1 - recent_left_ / recent_admitted_, 0.0, 1.0);
  const auto in_use = static_cast<std::uint32_t>(std::ceil(std::max(running, 0.0)));
  sample.is_held_up = is_held_up(input, in_use);
  leave_out_lost(sample, input.rotation);
  const double held = signals.admitted_rate > 0 ? signals.inflight / signals.admitted_rate : 0;
  scale(sample, input.rotation, held, now);
  return sample;
}

void LimitSampler::note_rate(LimitSample& sample) {
  const double kept = std::exp(-to_seconds(sample.span) / kLongestMemory);
  minute_admitted_ = minute_admitted_ * kept + sample.admitted;
  minute_ = minute_ * kept + to_seconds(sample.span);
  sample.are_few = minute_admitted_ < kFewBelow * minute_;
}

// Removes the requests in flight at servers out of rotation, and those that end there.
void LimitSampler::leave_out_lost(LimitSample& sample, const InRotation& rotation) {
  const double now = rotation.elsewhere, before = std::exchange(elsewhere_, now);
  if (now + before == 0) return;
  const double seconds = (now + before) / 2 * to_seconds(sample.span);
  sample.slot_seconds = std::max(sample.slot_seconds - seconds, 0.0);
  sample.released -= std::max(before - now, 0.0);
}

// `held`: seconds for which a slot is held, approximately.
void LimitSampler::scale(LimitSample& sample, const InRotation& rotation, double held,
                         TimePoint now) {
  const std::size_t before = std::exchange(servers_in_, rotation.in);
  if (before != 0 && before != rotation.in)
    settles_ = now + from_seconds(std::clamp(kSettles * held, kSettlesSoonest, kSettlesLatest));
  sample.is_unsettled = now < settles_;
  if (rotation.part >= 1) return;
  const double times = 1 / rotation.part;
  sample.slot_seconds *= times;
  sample.succeeded *= times;
  sample.admitted *= times;
  sample.released *= times;
  sample.left *= times;
}

}  // namespace spillway::overload
