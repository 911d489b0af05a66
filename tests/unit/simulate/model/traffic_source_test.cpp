// The modelled clients come as often as they are said to.
#include "simulate/model/traffic_source.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

std::vector<TrafficSource::Arrival> arrivals_of(Scenario scenario, std::uint32_t number = 0) {
  scenario.seconds = 1000;
  TrafficSource source(scenario, number);
  std::vector<TrafficSource::Arrival> out;
  while (const auto arrival = source.next()) out.push_back(*arrival);
  return out;
}

double count_between(const std::vector<TrafficSource::Arrival>& arrivals, double from, double to) {
  double count = 0;
  for (const auto& arrival : arrivals) count += arrival.at >= from && arrival.at < to ? 1 : 0;
  return count;
}

// The variance of the counts of seconds, relative to their mean: 1 for Poisson.
double dispersion(const std::vector<TrafficSource::Arrival>& arrivals, int seconds) {
  const double mean = static_cast<double>(arrivals.size()) / seconds;
  std::vector<double> counts(static_cast<std::size_t>(seconds));
  for (const auto& arrival : arrivals) ++counts[static_cast<std::size_t>(arrival.at)];
  double squares = 0;
  for (const double count : counts) squares += (count - mean) * (count - mean);
  return squares / seconds / mean;
}

}  // namespace

TEST_CASE("arrivals are Poisson at their rate and between their times") {
  const auto all = arrivals_of(scenario_of(
      R"("clients":[{"class":"P0","rate":20,"from_seconds":100,"until_seconds":900}])"));
  CHECK(all.front().at >= 100);
  CHECK(all.back().at < 900);
  CHECK(static_cast<double>(all.size()) == doctest::Approx(16000).epsilon(0.03));
  const auto whole = arrivals_of(scenario_of(R"("clients":[{"class":"P0","rate":20}])"));
  CHECK(dispersion(whole, 1000) == doctest::Approx(1).epsilon(0.15));
}

TEST_CASE("a ramp grows evenly") {
  const auto all = arrivals_of(scenario_of(R"("clients":[{"class":"P0","rate":0,"ramp_to":40}])"));
  CHECK(count_between(all, 0, 500) == doctest::Approx(5000).epsilon(0.05));
  CHECK(count_between(all, 500, 1000) == doctest::Approx(15000).epsilon(0.05));
}

TEST_CASE("bursts raise the mean as configured and make the counts uneven") {
  const auto all = arrivals_of(scenario_of(
      R"("clients":[{"class":"P0","rate":10,"burst":{"on_ms":500,"off_ms":1500,"factor":9}}])"));
  CHECK(static_cast<double>(all.size()) == doctest::Approx(30'000).epsilon(0.1));
  CHECK(dispersion(all, 1000) > 5);
}

TEST_CASE("tenants have equal shares and service times their mean") {
  const Scenario scenario = scenario_of(
      R"("clients":[{"class":"P0","rate":20,"tenant":"t","tenants":4,"service_factor":3}])");
  double first = 0, work = 0;
  const auto all = arrivals_of(scenario);
  for (const auto& arrival : all) {
    REQUIRE(arrival.tenant < 4);
    first += arrival.tenant == 0 ? 1 : 0;
    work += arrival.work;
  }
  const auto count = static_cast<double>(all.size());
  CHECK(first / count == doctest::Approx(0.25).epsilon(0.05));
  CHECK(work / count == doctest::Approx(3 * 0.02).epsilon(0.03));
}

TEST_CASE("a tail of one in a hundred raises the mean as it should") {
  Scenario scenario = scenario_of(R"("clients":[{"class":"P0","rate":100}])");
  scenario.backend.tail_probability = 0.01;
  double work = 0, slow = 0;
  const auto all = arrivals_of(scenario);
  for (const auto& arrival : all) {
    work += arrival.work;
    slow += arrival.work > 0.1 ? 1 : 0;
  }
  const auto count = static_cast<double>(all.size());
  CHECK(work / count == doctest::Approx(0.02 * 1.09).epsilon(0.03));
  CHECK(slow / count == doctest::Approx(0.008).epsilon(0.25));
}

TEST_CASE("clients beside others and other seeds draw on their own") {
  const Scenario scenario =
      scenario_of(R"("clients":[{"class":"P0","rate":20},{"class":"P0","rate":20}])");
  Scenario alone = scenario;
  alone.clients.pop_back();
  Scenario other = scenario;
  other.seed = 2;
  CHECK(arrivals_of(scenario)[7].at == arrivals_of(alone)[7].at);
  CHECK(arrivals_of(scenario)[7].at != arrivals_of(scenario, 1)[7].at);
  CHECK(arrivals_of(scenario)[7].at != arrivals_of(other)[7].at);
}

TEST_CASE("the keys that are asked for follow Zipf's law") {
  const Scenario scenario = scenario_of(
      R"("clients":[{"class":"P1","rate":2000,"keys":100},{"class":"P1","rate":2000}])");
  TrafficSource skewed(scenario, 0), unique(scenario, 1);
  std::array<int, 101> asked{};
  int all = 0;
  for (auto arrival = skewed.next(); arrival; arrival = skewed.next(), ++all) {
    REQUIRE(arrival->key >= 1);
    REQUIRE(arrival->key <= 100);
    ++asked[arrival->key];
  }
  // The sum of 1/n up to 100 is 5.187.
  CHECK(asked[1] == doctest::Approx(all / 5.187).epsilon(0.05));
  CHECK(asked[10] == doctest::Approx(all / 51.87).epsilon(0.1));
  CHECK(unique.next()->key == 0);
}

}  // namespace spillway::simulate
