#include "overload/signals/signals.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spillway::overload {
namespace {

constexpr std::size_t kMaxSlices = 100;
constexpr Duration kInflightWindow = std::chrono::seconds(2);
// A queue may be full for a moment; one with few places often is, at any load.
constexpr Milliseconds kQueueWindow{500};
constexpr std::size_t kBusyPoints = 64;
// Share of the slots in use at which an upstream without completions is stalled, not idle.
constexpr double kFull = 0.95;

std::size_t slices_of(const config::Overload& settings) {
  const auto tick = std::max(settings.tick, Milliseconds{1});
  const auto ticks = (settings.window + tick - Milliseconds{1}) / tick;
  return std::clamp<std::size_t>(static_cast<std::size_t>(ticks), 1, kMaxSlices);
}

// The growth of the shards' counts since `seen`, which is updated.
template <class Buckets>
BucketCounts take_difference(std::span<const SignalShard* const> shards, Buckets buckets,
                             BucketCounts& seen) {
  BucketCounts difference{};
  for (const SignalShard* shard : shards) {
    const ShardBuckets& from = buckets(*shard);
    for (std::size_t i = 0; i < kBucketCount; ++i) difference[i] += from[i].get();
  }
  for (std::size_t i = 0; i < kBucketCount; ++i) {
    const std::uint32_t sum = difference[i];
    difference[i] -= seen[i];
    seen[i] = sum;
  }
  return difference;
}

// Half of kEnoughSamples: with just enough requests in all, a source of half of them can be judged.
constexpr std::uint64_t kEnoughOfOthers = kEnoughSamples / 2;

std::vector<const SourceCounts*> sources_of(std::span<const SignalShard* const> shards) {
  std::vector<const SourceCounts*> sources;
  for (const SignalShard* shard : shards) sources.push_back(&shard->sources());
  return sources;
}

double queue_ratio(const TickInput& input) {
  double fullest = 0, queued = 0, capacity = 0;
  const std::size_t classes = std::min({input.queued.size(), input.max_queue.size(), kMaxClasses});
  for (std::size_t i = 0; i < classes; ++i) {
    queued += input.queued[i];
    capacity += input.max_queue[i];
    if (input.max_queue[i] == 0) continue;
    fullest = std::max(fullest, double(input.queued[i]) / input.max_queue[i]);
  }
  return std::max(fullest, capacity > 0 ? queued / capacity : 0);
}

}  // namespace

SignalWindow::SignalWindow(const config::Overload& settings)
    : is_shadow_(settings.mode == config::Mode::shadow),
      slices_(slices_of(settings)),
      slice_(Duration(settings.window) / static_cast<std::int64_t>(slices_)),
      tolerance_(Duration(settings.tick) / 2),
      latency_(slices_),
      relative_(slices_),
      wait_(slices_),
      counts_(slices_),
      sources_(slices_) {
  busy_.reserve(kBusyPoints + 2);
}

OverloadSignals SignalWindow::tick(const TickInput& input, TimePoint now) {
  OverloadSignals signals;
  const Use use = slot_use(input, now);
  signals.inflight_ratio = std::max(use.all, use.shared);
  signals.queue_ratio = use.queue;
  signals.inflight = use.all * input.concurrency;
  if (!slice_began_ || now - *slice_began_ + tolerance_ >= slice_)
    close_slice(input, *signals.inflight_ratio, now);
  signals.event_loop_lag = input.event_loop_lag;
  signals.event_loop_use = input.event_loop_use;
  if (wait_.count() >= kEnoughSamples) signals.queue_wait_p95 = to_seconds(wait_.quantile(0.95));
  const std::uint64_t served = judge_counts(signals, input.shards);
  for (const SignalShard* shard : input.shards) signals.class_answers += shard->class_answers();
  // By Little's law slots / completions is the time that a request takes, and the slots that
  // requests would use without refusals are in proportion to the offered rate.
  if (served >= kEnoughSamples) {
    signals.offered_load = *signals.inflight_ratio * signals.offered_rate / signals.served_rate;
  } else if (*signals.inflight_ratio < kFull) {
    signals.offered_load = signals.inflight_ratio;
  }
  judge_latency(signals, input.shards);
  judge_ratio(signals, input.shards);
  return signals;
}

void SignalWindow::close_slice(const TickInput& input, double inflight, TimePoint now) {
  const bool low_load = inflight < kLowLoad;
  const auto shards = input.shards;
  const BucketCounts latency = take_difference(
      shards, [](auto& s) -> auto& { return s.latency(); }, latency_seen_);
  const BucketCounts relative = take_difference(
      shards, [](auto& s) -> auto& { return s.relative_latency(); }, relative_seen_);
  const BucketCounts wait = take_difference(
      shards, [](auto& s) -> auto& { return s.wait(); }, wait_seen_);
  Counts sums;
  for (const SignalShard* shard : shards) {
    sums.succeeded += shard->succeeded();
    sums.failed += shard->failed();
    sums.timed_out += shard->timed_out();
    sums.offered += shard->offered();
    sums.admitted += shard->admitted();
  }
  if (slice_began_) {
    latency_.add_slice(latency);
    relative_.add_slice(relative);
    const bool is_calm =
        input.queued.empty() || std::accumulate(input.queued.begin(), input.queued.end(), 0u) == 0;
    baseline_.add(relative, now - *slice_began_,
                  {.low_load = low_load,
                   .normal = input.is_normal,
                   .calm = low_load || (is_calm && inflight < kFull)});
    wait_.add_slice(wait);
    counts_[oldest_count_] = {sums.succeeded - seen_.succeeded, sums.failed - seen_.failed,
                              sums.timed_out - seen_.timed_out, sums.offered - seen_.offered,
                              sums.admitted - seen_.admitted,   now - *slice_began_};
    oldest_count_ = (oldest_count_ + 1) % counts_.size();
  }
  seen_ = sums;
  sources_.close_slice(sources_of(shards));
  slice_began_ = now;
}

// Means over the last two seconds, for the queues over half a second; before the first tick all
// slots count as idle. Free reserved slots are capacity for their class only: if the other classes
// have none left, the upstream counts as full.
SignalWindow::Use SignalWindow::slot_use(const TickInput& input, TimePoint now) {
  const double unreserved = std::max(0.0, input.concurrency - input.reserved);
  if (last_tick_) {
    const double passed = to_seconds(now - *last_tick_);
    until_last_tick_.slots += input.concurrency * passed;
    until_last_tick_.unreserved += unreserved * passed;
    until_last_tick_.queue += queue_ratio(input) * passed;
  }
  last_tick_ = now;
  if (busy_.empty() || now - busy_.back().at >= kInflightWindow / kBusyPoints)
    busy_.push_back({now, input.busy_slot_seconds, until_last_tick_.slots,
                     input.shared_slot_seconds, until_last_tick_.unreserved,
                     until_last_tick_.queue});
  while (busy_.size() > 1 && busy_[1].at <= now - kInflightWindow) busy_.erase(busy_.begin());
  const BusyPoint& begin = busy_.front();
  const double missing = std::max(0.0, to_seconds(kInflightWindow - (now - begin.at)));
  const auto before =
      std::partition_point(busy_.begin() + 1, busy_.end(),
                           [&](const BusyPoint& point) { return point.at <= now - kQueueWindow; });
  const auto part = [](double busy, double slots) { return slots > 0 ? busy / slots : 0; };
  Use use{.all = part(input.busy_slot_seconds - begin.busy_slot_seconds,
                      until_last_tick_.slots - begin.slot_seconds + missing * input.concurrency)};
  use.queue = (until_last_tick_.queue - (before - 1)->queue_seconds) /
              to_seconds(std::max(Duration(kQueueWindow), now - (before - 1)->at));
  if (input.reserved > 0)
    use.shared =
        part(input.shared_slot_seconds - begin.shared_slot_seconds,
             until_last_tick_.unreserved - begin.unreserved_seconds + missing * unreserved);
  return use;
}

// Returns the number of requests served, see OverloadSignals::served_rate.
std::uint64_t SignalWindow::judge_counts(OverloadSignals& signals,
                                         std::span<const SignalShard* const> shards) const {
  std::uint64_t succeeded = 0, failed = 0, timed_out = 0, offered = 0, admitted = 0;
  Duration span{0};
  for (const Counts& slice : counts_) {
    succeeded += slice.succeeded;
    failed += slice.failed;
    timed_out += slice.timed_out;
    offered += slice.offered;
    admitted += slice.admitted;
    span += slice.span;
  }
  const std::uint64_t finished = succeeded + failed;
  if (finished >= kEnoughSamples) {
    signals.error_rate = signals.total_error_rate = double(failed) / double(finished);
    if (failed > 0) signals.left_out = sources_.worst(kEnoughOfOthers, sources_of(shards));
    if (signals.left_out) signals.error_rate = signals.left_out->others;
    // With sources left out, timeouts are assumed to have the same share of the others' errors.
    signals.timeout_rate =
        failed > 0 ? *signals.error_rate * double(timed_out) / double(failed) : 0.0;
  }
  if (span <= Duration{0}) return 0;
  const std::uint64_t served = is_shadow_ ? admitted : finished;
  signals.offered_rate = double(offered) / to_seconds(span);
  signals.admitted_rate = double(admitted) / to_seconds(span);
  signals.completed_rate = double(finished) / to_seconds(span);
  signals.served_rate = double(served) / to_seconds(span);
  return served;
}

// The age of a request in flight is a lower bound of its latency. It counts once it exceeds the
// median, or at once while completions are too few to know the usual latency. Without these ages a
// stalled upstream, which completes nothing, would look healthy.
void SignalWindow::judge_latency(OverloadSignals& signals,
                                 std::span<const SignalShard* const> shards) const {
  BucketCounts samples = latency_.counts();
  const std::size_t first =
      latency_.count() < kEnoughSamples ? 0 : bucket_of(latency_.quantile(0.5)) + 1;
  for (const SignalShard* shard : shards) {
    const ShardBuckets& ages = shard->ages();
    for (std::size_t i = first; i < kBucketCount; ++i) samples[i] += ages[i].get();
  }
  if (total(samples) < kEnoughSamples) return;
  signals.latency_p95 = to_seconds(quantile(samples, 0.95));
  signals.latency_p99 = to_seconds(quantile(samples, 0.99));
}

// Both use the same quantile, p95 less three standard deviations of its rank: with few samples, or
// where one answer in twenty or so is far slower than the rest, p95 itself is chance. Requests in
// flight count only if answers are too few: beside answers, slow ones count several times.
void SignalWindow::judge_ratio(OverloadSignals& signals,
                               std::span<const SignalShard* const> shards) const {
  BucketCounts samples = relative_.counts();
  if (relative_.count() < kEnoughForRatio) {
    for (const SignalShard* shard : shards) {
      const ShardBuckets& ages = shard->relative_ages();
      for (std::size_t i = 0; i < kBucketCount; ++i) samples[i] += ages[i].get();
    }
  }
  const auto count = static_cast<double>(total(samples));
  if (count < double(kEnoughForRatio)) return;
  const double q = 0.95 - 3 * std::sqrt(0.95 * 0.05 / count);
  const std::optional<Duration> usual = baseline_.quantile(q);
  if (!usual || *usual <= Duration{0}) return;
  signals.latency_p95_ratio = to_seconds(quantile(samples, q)) / to_seconds(*usual);
}

}  // namespace spillway::overload
