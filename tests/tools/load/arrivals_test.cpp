#include "bench/load/arrivals.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "bench/load/kinds.hpp"

using namespace spillway;
using namespace spillway::load;

namespace {
const std::array<Phase, 3> kPhases{{{"calm", std::chrono::seconds(10), 400},
                                    {"spike", std::chrono::seconds(10), 4000},
                                    {"recovery", std::chrono::seconds(10), 400}}};
}

TEST_CASE("the same seed gives the same schedule and another seed another one") {
  const auto first = schedule(kPhases, 7);
  const auto again = schedule(kPhases, 7);
  const auto other = schedule(kPhases, 8);
  REQUIRE(first.size() == again.size());
  CHECK(std::equal(first.begin(), first.end(), again.begin(), [](const auto& a, const auto& b) {
    return a.at == b.at && a.kind == b.kind && a.phase == b.phase;
  }));
  CHECK(first.front().at != other.front().at);
}

TEST_CASE("arrivals are in order and inside their phase") {
  const auto arrivals = schedule(kPhases, 1);
  CHECK(std::is_sorted(arrivals.begin(), arrivals.end(),
                       [](const auto& a, const auto& b) { return a.at < b.at; }));
  for (const Arrival& arrival : arrivals) {
    REQUIRE(arrival.at >= std::chrono::seconds(10) * arrival.phase);
    REQUIRE(arrival.at < std::chrono::seconds(10) * (arrival.phase + 1));
  }
}

TEST_CASE("each phase has its rate and the mix is 10 to 30 to 60") {
  const auto arrivals = schedule(kPhases, 3);
  std::array<double, 3> by_phase{};
  std::array<double, kKindCount> by_kind{};
  for (const Arrival& arrival : arrivals) {
    ++by_phase[arrival.phase];
    ++by_kind[arrival.kind];
  }
  CHECK(by_phase[0] == doctest::Approx(4000).epsilon(0.06));
  CHECK(by_phase[1] == doctest::Approx(40000).epsilon(0.02));
  CHECK(by_phase[2] == doctest::Approx(4000).epsilon(0.06));
  const auto total = static_cast<double>(arrivals.size());
  for (std::size_t kind = 0; kind < kKindCount; ++kind) {
    CHECK(by_kind[kind] / total == doctest::Approx(kKinds[kind].share).epsilon(0.05));
  }
}

TEST_CASE("half of the reads ask for a page and no purchase does") {
  const auto arrivals = schedule(kPhases, 3, {.cacheable = 0.5, .pages = 40});
  std::array<double, kKindCount> pages{};
  std::array<double, kKindCount> by_kind{};
  for (const Arrival& arrival : arrivals) {
    REQUIRE(arrival.page <= 40);
    pages[arrival.kind] += arrival.page > 0 ? 1 : 0;
    ++by_kind[arrival.kind];
  }
  CHECK(pages[0] == 0);
  CHECK(pages[1] / by_kind[1] == doctest::Approx(0.5).epsilon(0.05));
  CHECK(pages[2] / by_kind[2] == doctest::Approx(0.5).epsilon(0.05));
}

TEST_CASE("instants and kinds do not depend on what the reads ask for") {
  const auto without = schedule(kPhases, 3);
  const auto with = schedule(kPhases, 3, {.cacheable = 1, .pages = 7});
  CHECK(std::equal(without.begin(), without.end(), with.begin(), with.end(),
                   [](const auto& a, const auto& b) { return a.at == b.at && a.kind == b.kind; }));
  CHECK(std::all_of(without.begin(), without.end(), [](const auto& a) { return a.page == 0; }));
}

TEST_CASE("gaps between arrivals spread as a Poisson process does") {
  // The deviation of exponential gaps equals their mean; evenly spaced arrivals would give 0.
  const std::array<Phase, 1> phases{{{"steady", std::chrono::seconds(20), 1000}}};
  const auto arrivals = schedule(phases, 5);
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    const double gap = to_seconds(arrivals[i].at - arrivals[i - 1].at);
    sum += gap;
    squares += gap * gap;
  }
  const auto gaps = static_cast<double>(arrivals.size() - 1);
  const double mean = sum / gaps;
  const double variance = squares / gaps - mean * mean;
  CHECK(variance / (mean * mean) == doctest::Approx(1.0).epsilon(0.06));
}

TEST_CASE("a phase without load or without length sends nothing") {
  const std::array<Phase, 3> phases{{{"silent", std::chrono::seconds(1), 0},
                                     {"none", Duration::zero(), 1000},
                                     {"some", std::chrono::seconds(1), 100}}};
  const auto arrivals = schedule(phases, 1);
  REQUIRE(!arrivals.empty());
  CHECK(std::all_of(arrivals.begin(), arrivals.end(), [](const auto& a) { return a.phase == 2; }));
  CHECK(schedule({}, 1).empty());
  CHECK(expected_arrivals(phases) == doctest::Approx(100));
  CHECK(total_length(phases) == std::chrono::seconds(2));
}

TEST_CASE("each source has its share and the schedule says whose an arrival is") {
  const std::array<Phase, 1> phases{{{"steady", std::chrono::seconds(40), 1000}}};
  const auto arrivals = schedule(phases, 5, {}, {{0, 0, 0.25}, {1, 3, 0.5}, {1, 4, 0.25}});
  std::array<double, 5> by_tenant{};
  for (const Arrival& arrival : arrivals) {
    REQUIRE(arrival.kind == (arrival.tenant == 0 ? 0 : 1));
    ++by_tenant.at(arrival.tenant);
  }
  CHECK(by_tenant[0] == doctest::Approx(10000).epsilon(0.05));
  CHECK(by_tenant[3] == doctest::Approx(20000).epsilon(0.05));
  CHECK(by_tenant[4] == doctest::Approx(10000).epsilon(0.05));
}
