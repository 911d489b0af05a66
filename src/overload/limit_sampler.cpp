#include "overload/limit_sampler.hpp"

#include <numeric>
#include <utility>

namespace spillway::overload {

std::optional<LimitSample> LimitSampler::take(const TickInput& input,
                                              const OverloadSignals& signals, TimePoint now) {
  std::uint32_t succeeded = 0, offered = 0, admitted = 0;
  for (const SignalShard* shard : input.shards) {
    succeeded += shard->succeeded();
    offered += shard->offered();
    admitted += shard->admitted();
  }
  const std::uint32_t waiting = std::accumulate(input.queued.begin(), input.queued.end(), 0u);
  LimitSample sample;
  sample.slot_seconds =
      input.busy_slot_seconds - std::exchange(slot_seconds_, input.busy_slot_seconds);
  sample.succeeded = succeeded - std::exchange(succeeded_, succeeded);
  const std::uint32_t new_offered = offered - std::exchange(offered_, offered);
  const std::uint32_t new_admitted = admitted - std::exchange(admitted_, admitted);
  const std::uint32_t before = std::exchange(waiting_, waiting);
  const bool is_over = !signals.offered_load || *signals.offered_load >= 1;
  sample.is_short = is_over && (waiting > 0 || before + new_offered > new_admitted);
  if (signals.completed_rate < signals.admitted_rate)
    sample.answered = signals.completed_rate / signals.admitted_rate;
  const std::optional<TimePoint> last = std::exchange(last_, now);
  if (!last || now <= *last) return std::nullopt;
  sample.span = now - *last;
  return sample;
}

}  // namespace spillway::overload
