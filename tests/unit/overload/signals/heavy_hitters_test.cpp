#include "overload/signals/heavy_hitters.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"

using namespace spillway;
using namespace spillway::overload;

namespace {

// Tenants by a power law: rank r has a weight in proportion to r^-skew.
class Skewed {
 public:
  Skewed(std::size_t tenants, double skew) {
    double sum = 0;
    for (std::size_t r = 1; r <= tenants; ++r) up_to_.push_back(sum += std::pow(r, -skew));
  }
  TenantId draw(Random& random) const {
    const double at = random.uniform() * up_to_.back();
    const auto found = std::upper_bound(up_to_.begin(), up_to_.end(), at);
    return TenantId(static_cast<std::uint64_t>(found - up_to_.begin()) * 0x9e3779b97f4a7c15u);
  }

 private:
  std::vector<double> up_to_;
};

// Zero while counters are free.
double smallest_count(const HeavyHitters& sketch) {
  if (sketch.counted().size() < sketch.capacity()) return 0;
  double smallest = sketch.total();
  for (const auto& one : sketch.counted()) smallest = std::min(smallest, one.count);
  return smallest;
}

using Exact = std::unordered_map<std::uint64_t, double>;

void check_guarantees(const HeavyHitters& sketch, Exact& exact) {
  double most_untracked = 0, total = 0;
  std::unordered_map<std::uint64_t, bool> tracked;
  for (const auto& one : sketch.counted()) {
    const auto id = static_cast<std::uint64_t>(one.tenant);
    const double truth = exact[id];
    CHECK_FALSE(tracked[id]);  // each once
    tracked[id] = true;
    REQUIRE(truth <= one.count * (1 + 1e-9));
    REQUIRE(one.certain() <= truth * (1 + 1e-9));
  }
  for (const auto& [id, truth] : exact) {
    total += truth;
    if (!tracked[id]) most_untracked = std::max(most_untracked, truth);
  }
  CHECK(sketch.total() == doctest::Approx(total));
  CHECK(most_untracked <= smallest_count(sketch) * (1 + 1e-9));
  // Every element above N/K is present.
  CHECK(most_untracked <= total / double(sketch.capacity()));
}

}  // namespace

TEST_CASE("counts are exact while there are counters for all") {
  HeavyHitters sketch(8);
  for (int round = 0; round < 5; ++round)
    for (std::uint64_t t = 0; t < 8; ++t)
      if (round <= int(t)) sketch.record(TenantId{t}, 2);
  for (const auto& one : sketch.counted()) {
    CHECK(one.error == 0);
    CHECK(one.count == 2 * std::min<double>(5, double(one.tenant) + 1));
  }
}

TEST_CASE("the sketch keeps its guarantees on skewed data of every skew") {
  for (const double skew : {0.0, 0.5, 1.0, 1.5}) {
    for (const std::size_t capacity : {8u, 64u, 128u}) {
      CAPTURE(skew);
      CAPTURE(capacity);
      const Skewed tenants(5000, skew);
      Random random(11);
      HeavyHitters sketch(capacity);
      Exact exact;
      for (int i = 0; i < 50000; ++i) {
        const TenantId tenant = tenants.draw(random);
        const double weight = i % 3 == 0 ? 2.5 : 1;
        sketch.record(tenant, weight);
        exact[static_cast<std::uint64_t>(tenant)] += weight;
      }
      check_guarantees(sketch, exact);
    }
  }
}

TEST_CASE("decay scales counts and errors alike and keeps the guarantees") {
  const Skewed tenants(2000, 1.0);
  Random random(12);
  HeavyHitters sketch(64);
  Exact exact;
  for (int slice = 0; slice < 100; ++slice) {
    for (int i = 0; i < 500; ++i) {
      const TenantId tenant = tenants.draw(random);
      sketch.record(tenant);
      exact[static_cast<std::uint64_t>(tenant)] += 1;
    }
    sketch.decay(0.5);
    for (auto& [id, count] : exact) count *= 0.5;
  }
  check_guarantees(sketch, exact);
}

TEST_CASE("what idles comes to nothing instead of to ever smaller numbers") {
  HeavyHitters sketch(2);
  for (std::uint64_t tenant = 1; tenant <= 3; ++tenant) sketch.record(TenantId{tenant}, 100);
  for (int i = 0; i < 60; ++i) sketch.decay(0.5);
  CHECK(sketch.total() == 0);
  for (const HeavyHitters::Counted& one : sketch.counted()) {
    CHECK(one.count == 0);
    CHECK(one.error == 0);
  }
  sketch.record(TenantId{9}, 1);
  CHECK(sketch.total() == 1);
}

TEST_CASE("the heaviest of a million tenants are found in the memory of a few") {
  HeavyHitters sketch(128);
  const void* const memory = sketch.counted().data();
  Random random(13);
  constexpr int kHeavy = 5;
  std::array<double, kHeavy> sent{};
  double total = 0;
  for (std::uint64_t crowd = 0; crowd < 1'000'000; ++crowd) {
    sketch.record(TenantId{1'000'000 + crowd * 0x9e3779b97f4a7c15u});
    total += 1;
    if (random.uniform() < 0.2) {
      const auto heavy = static_cast<std::size_t>(random.next() % kHeavy);
      sketch.record(TenantId{heavy});
      sent[heavy] += 1;
      total += 1;
    }
  }
  CHECK(sketch.counted().size() == 128);
  CHECK(sketch.counted().data() == memory);
  int found = 0;
  for (const auto& one : sketch.counted()) {
    const auto id = static_cast<std::size_t>(one.tenant);
    if (id >= kHeavy) continue;
    ++found;
    CHECK(one.certain() <= sent[id]);
    CHECK(one.count >= sent[id]);
    CHECK(one.certain() >= sent[id] - total / 128);
  }
  CHECK(found == kHeavy);
}

TEST_CASE("tenants that come and go leave no trace in the slots of others") {
  Random random(14);
  HeavyHitters sketch(16);
  const auto find = [&](TenantId tenant) {
    const auto all = sketch.counted();
    return std::find_if(all.begin(), all.end(),
                        [&](const auto& one) { return one.tenant == tenant; });
  };
  for (int i = 0; i < 100000; ++i) {
    const TenantId tenant{random.next() % 40};
    const double smallest = smallest_count(sketch);
    const auto before = find(tenant);
    const bool was_tracked = before != sketch.counted().end();
    const double count = was_tracked ? before->count : smallest;
    sketch.record(tenant);
    const auto after = find(tenant);
    REQUIRE(after != sketch.counted().end());
    REQUIRE(after->count == count + 1);
    REQUIRE(std::count_if(sketch.counted().begin(), sketch.counted().end(),
                          [&](const auto& one) { return one.tenant == tenant; }) == 1);
    double sum = 0;
    for (const auto& one : sketch.counted()) sum += one.count;
    REQUIRE(sum == sketch.total());  // space-saving counts everything once
  }
}
