#include "overload/control/fair_level.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"

using namespace spillway;
using namespace spillway::overload;

namespace {

std::vector<TenantDemand> tenants(const std::vector<double>& demands) {
  std::vector<TenantDemand> out;
  for (const double demand : demands) out.push_back({TenantId{out.size()}, demand, 0});
  return out;
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

// And sixty others that are not told apart: one request each, for all that is known.
std::vector<TenantDemand> beside_a_crowd(const std::vector<double>& demands) {
  std::vector<TenantDemand> out = tenants(demands);
  for (std::uint64_t i = 0; i < 60; ++i) out.push_back({TenantId{1000 + i}, 1, 5});
  return out;
}

// All demands are known; a share `passing` of them may pass.
ClassExcess cut(const std::vector<double>& demands, double passing, double probability = 0) {
  auto known = tenants(demands);
  return tenants_above({sum(demands), passing * sum(demands), known}, probability);
}

}  // namespace

TEST_CASE("water rises to the level at which cut demands add up to the service") {
  CHECK(water_level(tenants({1, 1, 1, 7}), 6) == doctest::Approx(3));
  CHECK(water_level(tenants({1, 2, 4, 8}), 9) == doctest::Approx(3));
  CHECK(water_level(tenants({5, 5}), 5) == doctest::Approx(2.5));
  CHECK(water_level(tenants({1, 2}), 0) == 0);
  CHECK(water_level(tenants({1, 2}), -1) == 0);
  CHECK(std::isinf(water_level(tenants({1, 2}), 4)));
  CHECK(std::isinf(water_level({}, 1)));
}

TEST_CASE("water rises to a level per unit of weight") {
  std::vector<TenantDemand> demands = tenants({6, 2, 12});
  demands[0].weight = 3;  // demand / weight: 2, 2, 12
  CHECK(water_level(demands, 20) == doctest::Approx(12));
  CHECK(water_level(demands, 10) == doctest::Approx(2));
  CHECK(water_level(demands, 5) == doctest::Approx(1));
}

TEST_CASE("of equal demands beyond the service each keeps what its weight gives it") {
  std::vector<TenantDemand> demands = tenants({300, 300, 300});
  demands[1].weight = 4;
  const ClassExcess excess = tenants_above({900, 300, demands}, 0);
  CHECK(excess.chance(TenantId{0}) == doctest::Approx(1 - 50.0 / 300));
  CHECK(excess.chance(TenantId{1}) == 0);  // 200 of 300, less than an equal share by weight, 600
  CHECK(excess.chance(TenantId{2}) == doctest::Approx(1 - 50.0 / 300));
  // Negative control: without weights none of three equals is above its share.
  std::vector<TenantDemand> equals = tenants({300, 300, 300});
  CHECK(tenants_above({900, 300, equals}, 0).empty());
}

TEST_CASE("one noisy tenant is cut to what the quiet ones leave") {
  std::vector<double> demands(9, 10);
  demands.push_back(810);
  const ClassExcess excess = cut(demands, 0.5);  // 450 of 900: 360 are left to it
  CHECK(excess.chance(TenantId{9}) == doctest::Approx(1 - 360.0 / 810));
  for (std::uint64_t quiet = 0; quiet < 9; ++quiet) CHECK(excess.chance(TenantId{quiet}) == 0);
  CHECK(excess.chance(TenantId{12345}) == 0);
}

TEST_CASE(
    "far beyond the service even quiet tenants are above the level but not above an equal "
    "share") {
  std::vector<double> demands(9, 10);
  demands.push_back(810);
  const ClassExcess excess = cut(demands, 0.05);  // 45 of 900: 4.5 for each
  CHECK(excess.chance(TenantId{9}) == doctest::Approx(1 - 4.5 / 810));
  CHECK(excess.chance(TenantId{0}) == 0);
}

TEST_CASE("no tenant is above its share among equals or by random fluctuation") {
  CHECK(cut(std::vector<double>(10, 100), 0.1).empty());
  Random random(3);
  int above = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<double> demands;
    for (int i = 0; i < 20; ++i) {
      // About normal with the variance of a decayed Poisson count, half the mean.
      double noise = -6;
      for (int k = 0; k < 12; ++k) noise += random.uniform();
      demands.push_back(50 + noise * std::sqrt(50 / 2.0));
    }
    const ClassExcess excess = cut(demands, 0.3);
    for (std::uint64_t i = 0; i < 20; ++i) above += excess.chance(TenantId{i}) > 0 ? 1 : 0;
  }
  CHECK(above <= 3);  // of ten thousand
}

TEST_CASE("no tenant is above its share when the service suffices or samples are few") {
  CHECK_FALSE(cut({10, 90}, 0.5).empty());
  CHECK(cut({10, 90}, 1.0).empty());
  CHECK(cut({100}, 0.5).empty());       // one tenant
  CHECK(cut({100, 0.1}, 0.5).empty());  // and one that was here long ago
  CHECK(cut({1, 18.9}, 0.5).empty());   // fewer than twenty requests
  CHECK_FALSE(cut({1, 19.1}, 0.5).empty());
}

TEST_CASE("cuts and rule together refuse what the rule alone would") {
  Random random(4);
  int relieved = 0, partly = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<double> demands;
    const auto count = 2 + random.next() % 30;
    for (std::uint64_t i = 0; i < count; ++i) demands.push_back(5 * std::exp(5 * random.uniform()));
    const double rest = random.uniform() < 0.5 ? 0 : random.uniform() * sum(demands);
    const double probability = 0.05 + 0.9 * random.uniform();
    const double offered = sum(demands) + rest;
    auto known = tenants(demands);
    const ClassExcess excess =
        tenants_above({offered, (1 - probability) * offered, known}, probability);
    if (excess.empty()) continue;
    const double others = excess.rule_scale() * probability;
    double refused = rest * others;
    for (std::size_t i = 0; i < demands.size(); ++i)
      refused += demands[i] * std::max(excess.chance(TenantId{i}), others);
    REQUIRE(excess.rule_scale() >= 0);
    REQUIRE(excess.rule_scale() <= 1);
    REQUIRE(refused >= probability * offered * (1 - 1e-9));
    REQUIRE(refused <= probability * offered * (1 + 1e-9));
    ++(excess.rule_scale() == 0 ? relieved : partly);
  }
  CHECK(relieved + partly > 300);
  CHECK(partly > 20);
}

TEST_CASE("a tenant that is cut less than the others are refused is refused as they are") {
  const std::vector<double> demands{1000, 300, 100};
  auto known = beside_a_crowd(demands);
  const ClassExcess excess = tenants_above({4000, 1000, known}, 0.75);
  const double others = excess.rule_scale() * 0.75;
  REQUIRE(excess.chance(TenantId{2}) > 0);
  REQUIRE(excess.chance(TenantId{2}) < others);
  double refused = (4000 - 1400) * others;
  for (std::size_t i = 0; i < demands.size(); ++i)
    refused += demands[i] * std::max(excess.chance(TenantId{i}), others);
  CHECK(refused == doctest::Approx(3000));
}

TEST_CASE(
    "for lack of room a rule that refuses all is relieved down to what there is no room for") {
  std::vector<TenantDemand> known;
  for (std::uint64_t i = 0; i < 9; ++i) known.push_back({TenantId{i}, 10, 0});
  known.push_back({TenantId{9}, 810, 0});
  const ClassExcess excess = tenants_above({900, 360, known}, 1.0);
  CHECK(excess.chance(TenantId{9}) == doctest::Approx(1 - 270.0 / 810));
  CHECK(excess.rule_scale() == doctest::Approx(0));
}

TEST_CASE("the untracked rest passes before a tenant that is above its share") {
  auto known = beside_a_crowd({300, 5});
  const ClassExcess excess = tenants_above({1000, 850, known}, 0.15);
  CHECK(excess.chance(TenantId{0}) == doctest::Approx(1 - (850 - 695 - 5) / 300.0));
  CHECK(excess.rule_scale() == doctest::Approx(0).epsilon(1e-9));
}

TEST_CASE("a rest of any size leaves the known half of their proportion") {
  auto known = beside_a_crowd({1000, 1000});
  const ClassExcess excess = tenants_above({4000, 1000, known}, 0);
  // In proportion they would have 500 of the 1000; the rest alone asks for twice the service.
  CHECK(excess.chance(TenantId{0}) == doctest::Approx(1 - 500 / 2 / 2 / 1000.0));
  CHECK(excess.chance(TenantId{1}) == excess.chance(TenantId{0}));
}

TEST_CASE("a rest of any size leaves a tenant the sixteenth of the service") {
  auto known = beside_a_crowd({120, 20, 20, 20, 20});
  const ClassExcess excess = tenants_above({2000, 500, known}, 0);
  CHECK(excess.chance(TenantId{0}) == doctest::Approx(1 - 500 / 16.0 * 0.9 / 120));
  CHECK(excess.chance(TenantId{1}) == 0);
}

TEST_CASE("a tenant whose count is mostly error is not told apart") {
  auto known = beside_a_crowd({5, 90});
  CHECK_FALSE(tenants_above({200, 120, known}, 0).empty());
  known = beside_a_crowd({5, 90});
  known[1].error = 91;
  CHECK(tenants_above({200, 120, known}, 0).empty());
}

TEST_CASE("a table finds each tenant in it and no other") {
  Random random(6);
  for (const std::size_t size : {1u, 2u, 3u, 64u, 100u, 1000u}) {
    std::vector<Excess> above;
    for (std::size_t i = 0; i < size; ++i)
      above.push_back({TenantId{random.next()}, 0.5 + 0.4 * random.uniform()});
    const ClassExcess table(above, 0.25);
    for (const Excess& one : above) REQUIRE(table.chance(one.tenant) == one.chance);
    for (int i = 0; i < 1000; ++i) REQUIRE(table.chance(TenantId{random.next()}) == 0);
    CHECK(table.rule_scale() == 0.25);
  }
  CHECK(ClassExcess().empty());
  CHECK(ClassExcess().rule_scale() == 1);
  CHECK(ClassExcess().chance(TenantId{}) == 0);
}
