// What the signals cost: a sample recorded by a worker, and the tick that makes quantiles of them.
#include <cmath>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "overload/signals/histogram.hpp"
#include "overload/signals/shard.hpp"
#include "overload/signals/signals.hpp"
#include "suite.hpp"

namespace spillway::micro {
namespace {

using overload::SignalShard;

// Log-uniform between 0.1 ms and 1 s, so that samples fall into many buckets.
std::vector<Duration> durations() {
  Random random(1);
  std::vector<Duration> made(4096);
  for (Duration& each : made) each = from_seconds(1e-4 * std::pow(1e4, random.uniform()));
  return made;
}

void record(benchmark::State& state) {
  const auto samples = durations();
  const auto shard = std::make_unique<SignalShard>();
  std::size_t next = 0;
  for (auto _ : state) {
    shard->record_latency(samples[next++ % samples.size()]);
    benchmark::ClobberMemory();
  }
  std::uint32_t counted = 0;
  for (const auto& counter : shard->latency()) counted += counter.get();
  if (counted != static_cast<std::uint32_t>(next)) state.SkipWithError("samples were lost");
}

// Whose answer it was, by kind; one of four failed, or none.
void record_answer(benchmark::State& state, bool fails) {
  const auto shard = std::make_unique<SignalShard>();
  Random random(1);
  std::vector<overload::AnswerSource> sources(256);
  for (overload::AnswerSource& each : sources) {
    for (auto& one : each.by) one = {random.next(), "/a/path/of/usual/length"};
  }
  std::uint32_t next = 0;
  for (auto _ : state) {
    shard->record_result(fails && next % 4 == 0, sources[next % sources.size()]);
    ++next;
    benchmark::ClobberMemory();
  }
  if (shard->succeeded() + shard->failed() != next) state.SkipWithError("answers were lost");
}

void quantile(benchmark::State& state) {
  overload::BucketCounts counts{};
  for (const Duration each : durations()) ++counts[overload::bucket_of(each)];
  Duration p95{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(counts);
    p95 = overload::quantile(counts, 0.95);
    benchmark::DoNotOptimize(p95);
  }
  if (std::abs(to_seconds(p95) / (1e-4 * std::pow(1e4, 0.95)) - 1) > 0.1)
    state.SkipWithError("the quantile is wrong");
}

// A tick each 100 ms with 100 new samples in each worker's shard.
void tick(benchmark::State& state, std::size_t workers) {
  const auto samples = durations();
  std::vector<std::unique_ptr<SignalShard>> shards;
  std::vector<const SignalShard*> views;
  for (std::size_t i = 0; i < workers; ++i) {
    shards.push_back(std::make_unique<SignalShard>());
    views.push_back(shards.back().get());
  }
  overload::SignalWindow window{config::Overload{}};
  const std::vector<std::uint32_t> queued{1, 2, 3}, max_queue{512, 256, 128};
  TimePoint now = TimePoint{} + std::chrono::hours(1);
  std::size_t next = 0;
  bool evidence = true;
  for (auto _ : state) {
    state.PauseTiming();
    for (auto& shard : shards) {
      for (int i = 0; i < 100; ++i) shard->record_latency(samples[next++ % samples.size()]);
    }
    now += Milliseconds(100);
    state.ResumeTiming();
    overload::TickInput input;
    input.shards = views;
    input.queued = queued;
    input.max_queue = max_queue;
    const overload::OverloadSignals signals = window.tick(input, now);
    evidence = signals.latency_p95.has_value();
  }
  if (state.iterations() > 2 && !evidence) state.SkipWithError("the tick saw no samples");
}

}  // namespace

void add_quantile(Suite& suite) {
  suite.add("quantile/record a sample", std::nullopt, record);
  suite.add("quantile/record an answer", std::nullopt,
            [](benchmark::State& state) { record_answer(state, false); });
  suite.add("quantile/record an answer, one of four failed", std::nullopt,
            [](benchmark::State& state) { record_answer(state, true); });
  suite.add("quantile/p95 of one histogram", std::nullopt, quantile);
  for (const std::size_t workers : {1, 8}) {
    suite.add("quantile/tick, " + std::to_string(workers) + (workers == 1 ? " worker" : " workers"),
              std::nullopt, [workers](benchmark::State& state) { tick(state, workers); });
  }
}

}  // namespace spillway::micro
