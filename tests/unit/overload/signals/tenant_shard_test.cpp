#include "overload/signals/tenant_shard.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

const TimePoint kStart = TimePoint{} + 1h;
constexpr ClassId kFirst{0}, kSecond{1};

config::Config two_classes(std::uint32_t tracked = 8) {
  config::Config config;
  config.classes.resize(2);
  config.tenants.tracked = tracked;
  return config;
}

struct Reading {
  TenantShard::Sums sums;
  std::vector<TenantDemand> tenants;

  double demand(std::uint64_t tenant) const {
    for (const TenantDemand& one : tenants)
      if (one.tenant == TenantId{tenant}) return one.demand;
    return 0;
  }
};

Reading read(const TenantShard& shard, ClassId id) {
  Reading out;
  out.sums = shard.read(id, out.tenants);
  return out;
}

}  // namespace

TEST_CASE("a tenant's weight is the one that it came with last") {
  TenantShard shard(two_classes());
  shard.record_offered(kFirst, TenantId{7}, 1, 2);
  shard.record_offered(kFirst, TenantId{7}, 1, 4);
  shard.record_offered(kFirst, TenantId{8}, 1);
  shard.publish(kStart);
  for (const TenantDemand& one : read(shard, kFirst).tenants)
    CHECK(one.weight == (one.tenant == TenantId{7} ? 4 : 1));
}

TEST_CASE("readers see the counts of the last publish") {
  TenantShard shard(two_classes());
  for (int i = 0; i < 3; ++i) shard.record_offered(kFirst, TenantId{7}, 1);
  shard.record_offered(kFirst, TenantId{8}, 1);
  shard.record_admitted(kFirst, 1);
  shard.record_offered(kSecond, TenantId{7}, 1);
  CHECK(read(shard, kFirst).sums.offered == 0);
  shard.publish(kStart);
  const Reading first = read(shard, kFirst);
  CHECK(first.sums.offered == 4);
  CHECK(first.sums.admitted == 1);
  CHECK(first.demand(7) == 3);
  CHECK(first.demand(8) == 1);
  const Reading second = read(shard, kSecond);
  CHECK(second.sums.offered == 1);
  CHECK(second.sums.admitted == 0);
  CHECK(second.tenants.size() == 1);
}

TEST_CASE("what is offered and admitted is the upstream's time") {
  TenantShard shard(two_classes());
  for (int i = 0; i < 15; ++i) shard.record_offered(kFirst, TenantId{7}, 20);
  shard.record_offered(kFirst, TenantId{8}, 300);
  shard.record_admitted(kFirst, 300);
  shard.publish(kStart);
  const Reading reading = read(shard, kFirst);
  CHECK(reading.sums.requests == 16);
  CHECK(reading.sums.offered == 600);
  CHECK(reading.sums.admitted == 300);
  CHECK(reading.demand(7) == 300);
  CHECK(reading.demand(8) == 300);
}

TEST_CASE("counts halve in a second however often they are published") {
  for (const Duration step : {50ms, 250ms, 1000ms}) {
    TenantShard shard(two_classes());
    shard.publish(kStart);
    for (int i = 0; i < 100; ++i) shard.record_offered(kFirst, TenantId{7}, 1);
    for (int i = 0; i < 60; ++i) shard.record_admitted(kFirst, 1);
    for (Duration t = step; t <= 1s; t += step) shard.publish(kStart + t);
    const Reading reading = read(shard, kFirst);
    CHECK(reading.sums.offered == doctest::Approx(50));
    CHECK(reading.sums.admitted == doctest::Approx(30));
    CHECK(reading.demand(7) == doctest::Approx(50));
  }
}

TEST_CASE("a shard shows no more tenants than it tracks and never more demand than there was") {
  TenantShard shard(two_classes(16));
  for (std::uint64_t i = 0; i < 10000; ++i) {
    shard.record_offered(kFirst, TenantId{1000 + i}, 1);
    if (i % 4 == 0) shard.record_offered(kFirst, TenantId{1}, 1);
  }
  shard.publish(kStart);
  const Reading reading = read(shard, kFirst);
  CHECK(reading.tenants.size() == 16);
  CHECK(reading.sums.offered == 12500);
  CHECK(reading.demand(1) <= 2500);
  CHECK(reading.demand(1) >= 2500 - 12500 / 16.0);
  for (const TenantDemand& one : reading.tenants)
    if (one.tenant != TenantId{1}) CHECK(one.demand == 1);
}

TEST_CASE("without fairness a shard keeps nothing") {
  config::Config config = two_classes();
  config.tenants.fairness = false;
  TenantShard shard(config);
  shard.record_offered(kFirst, TenantId{7}, 1);
  shard.record_admitted(kFirst, 1);
  shard.publish(kStart);
  CHECK(read(shard, kFirst).sums.offered == 0);
  CHECK(read(shard, kFirst).tenants.empty());
}

TEST_CASE("a tick may read while the worker records and publishes") {
  TenantShard shard(two_classes(64));
  std::atomic<bool> done{false};
  std::thread worker([&] {
    for (int round = 0; round < 2000; ++round) {
      for (std::uint64_t i = 0; i < 100; ++i) shard.record_offered(kFirst, TenantId{i}, 1);
      shard.publish(kStart + round * 50ms);
    }
    done = true;
  });
  std::size_t most = 0;
  bool all_known = true;
  while (!done) {
    const Reading reading = read(shard, kFirst);
    most = std::max(most, reading.tenants.size());
    for (const TenantDemand& one : reading.tenants)
      all_known = all_known && one.tenant < TenantId{100} && one.demand >= 0;
  }
  worker.join();
  CHECK(all_known);
  CHECK(most <= 64);
  CHECK(read(shard, kFirst).tenants.size() == 64);
}
