// The sliding histogram against exact quantiles of the same window, and its memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <string>
#include <type_traits>
#include <vector>

#include "base/random.hpp"
#include "overload/signals/histogram.hpp"
#include "overload/signals/shard.hpp"
#include "overload/signals/signals.hpp"
#include "overload/signals/tenant_shard.hpp"

using namespace spillway;
using namespace spillway::overload;

namespace {

double normal(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) *
         std::cos(2 * std::numbers::pi * random.uniform());
}

struct Distribution {
  std::string name;
  std::function<double(Random&)> draw;  // seconds
};

const std::vector<Distribution> kDistributions{
    {"uniform", [](Random& r) { return 0.001 + 0.2 * r.uniform(); }},
    {"narrow uniform", [](Random& r) { return 0.100 + 0.001 * r.uniform(); }},
    {"lognormal", [](Random& r) { return 0.02 * std::exp(0.5 * normal(r)); }},
    {"wide lognormal", [](Random& r) { return 0.02 * std::exp(2 * normal(r)); }},
    // Hits of a cache and one in ten that are not.
    {"bimodal",
     [](Random& r) { return (r.uniform() < 0.9 ? 0.0008 : 0.25) * std::exp(0.1 * normal(r)); }},
    // Its mean is barely finite.
    {"Pareto", [](Random& r) { return 0.005 * std::pow(1 - r.uniform(), -1 / 1.1); }},
};

// The smallest sample that at least a share q do not exceed.
double exact(std::vector<double>& samples, double q) {
  std::sort(samples.begin(), samples.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * double(samples.size())));
  return samples[rank - 1];
}

// The largest relative error of p50, p95 and p99 over a window that slides.
double worst_error(const Distribution& distribution, std::size_t slices, int per_slice) {
  Random random(17);
  SlidingHistogram window(slices);
  std::vector<std::vector<double>> kept(slices);
  double worst = 0;
  for (std::size_t slice = 0; slice < 3 * slices; ++slice) {
    std::vector<double>& samples = kept[slice % slices];
    samples.clear();
    BucketCounts counts{};
    for (int i = 0; i < per_slice; ++i) {
      const Duration sample = from_seconds(distribution.draw(random));
      samples.push_back(to_seconds(sample));
      ++counts[bucket_of(sample)];
    }
    window.add_slice(counts);
    std::vector<double> all;
    for (const auto& one : kept) all.insert(all.end(), one.begin(), one.end());
    for (const double q : {0.5, 0.95, 0.99}) {
      const double truth = exact(all, q);
      worst = std::max(worst, std::abs(to_seconds(window.quantile(q)) - truth) / truth);
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("p50 p95 and p99 of a sliding window are within three percent of the exact ones") {
  for (const Distribution& distribution : kDistributions) {
    for (const int per_slice : {2, 20, 500}) {
      CAPTURE(distribution.name);
      CAPTURE(per_slice);
      const double error = worst_error(distribution, 20, per_slice);
      CHECK(error <= 0.03);
      CHECK(error > 0);  // it is a histogram
      if (per_slice == 500) MESSAGE(distribution.name, ": off by ", 100 * error, " % at most");
    }
  }
}

TEST_CASE("buckets of half as many parts would miss three percent") {
  // The widest bucket of an octave with n parts spans 1/n of its lower end; reporting the harmonic
  // middle halves that.
  const auto error = [](double parts) {
    const double low = parts, high = parts + 1;
    return 1 - 2 * low / (low + high);
  };
  CHECK(error(1u << kPartsLog2) < 0.03);
  CHECK(error(1u << (kPartsLog2 - 1)) > 0.03);
}

TEST_CASE("signals take fixed memory whatever the load") {
  // One worker and upstream: latencies, waits, latencies relative to the usual, and the ages in
  // flight, twice over and both ways; and the sources of answers.
  static_assert(kBucketCount == 866);
  static_assert(sizeof(SignalShard) <= 29 * 1024);
  // One slice of one histogram; a window has at most a hundred of them, for latencies and waits.
  static_assert(sizeof(BucketCounts) <= 3.5 * 1024);
  static_assert(sizeof(SlidingHistogram) <= 3.6 * 1024);
  // No member of a shard is on the heap.
  static_assert(std::is_trivially_destructible_v<SignalShard>);
  static_assert(std::is_trivially_copyable_v<BucketCounts>);

  SlidingHistogram window(100);
  const BucketCounts* const sum = &window.counts();
  BucketCounts slice{};
  for (int i = 0; i < 1000; ++i) {
    slice[static_cast<std::size_t>(i) % kBucketCount] = 1'000'000;
    window.add_slice(slice);
  }
  CHECK(&window.counts() == sum);
}
