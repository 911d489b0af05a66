#include "waiting/pace/estimate.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "unit/waiting/crowd.hpp"
#include "waiting/pace/rates.hpp"
#include "waiting/pace/shown_stay.hpp"

namespace spillway::waiting {
namespace {

double exponential(Random& random, double per_second) {
  return -std::log(1 - random.uniform()) / per_second;
}

// The wait with so many ahead, of whom each leaves at that rate, while others come and go before.
// Calls are a Poisson process.
double wait_played(Random& random, std::size_t ahead, const Flow& flow) {
  double seconds = 0;
  for (std::size_t left = ahead + 1; left > 0;) {
    const double fewer =
        flow.calls_per_second + flow.leaving_per_second * static_cast<double>(left - 1);
    seconds += exponential(random, fewer + flow.higher_per_second);
    if (random.uniform() * (fewer + flow.higher_per_second) < fewer)
      --left;
    else
      ++left;
  }
  return seconds;
}

struct Played {
  double within = 0;  // share of the waits
  double error = 0;   // mean, of the estimate as a part of the wait
  double bias = 0;    // of the mean of all
};

// `told`: the rates that the estimate goes by.
Played play(std::size_t ahead, const Flow& flow, const Flow& told) {
  const Range range = widened(*wait_quantiles(ahead, told), 1);
  const double expected = static_cast<double>(expected_wait(ahead, told)->count()) / 1000;
  Random random(ahead);
  Played played;
  double sum = 0;
  constexpr int kRuns = 2000;
  for (int n = 0; n < kRuns; ++n) {
    const double wait = wait_played(random, ahead, flow);
    sum += wait / kRuns;
    played.error += std::abs(wait - expected) / wait / kRuns;
    if (wait * 1000 >= static_cast<double>(range.p10.count()) &&
        wait * 1000 <= static_cast<double>(range.p90.count()))
      played.within += 1.0 / kRuns;
  }
  played.bias = expected / sum - 1;
  return played;
}

constexpr double kHour = 3600;
constexpr Flow kPlain{.calls_per_second = 0.667};
constexpr Flow kImpatient{.calls_per_second = 0.667, .leaving_per_second = 1 / kHour};
constexpr Flow kOvertaken{.calls_per_second = 0.667, .higher_per_second = 0.2};
constexpr Flow kBoth{
    .calls_per_second = 0.667, .leaving_per_second = 1 / kHour, .higher_per_second = 0.2};

}  // namespace

TEST_CASE("a learned rate that is scaled rests on as many events as before") {
  LearnedRate rate;
  for (int n = 0; n < 300; ++n) rate.observe(1, 2);
  const double seen = rate.weight();
  REQUIRE(seen == doctest::Approx(600));
  for (const double times : {10.0, 0.01}) {
    CAPTURE(times);
    LearnedRate scaled = rate;
    scaled.scale(times);
    CHECK(scaled.per_second() == doctest::Approx(2 * times));
    CHECK(scaled.weight() == doctest::Approx(seen));
    CHECK(scaled.doubt() == doctest::Approx(1 / seen));
    CHECK(scaled.is_known());
  }
}

TEST_CASE("how long sessions last is known from the first ends, also while most are open") {
  ShownStay stay;
  CHECK_FALSE(stay.has_shown());
  CHECK(stay.seconds(30) == 30);
  CHECK(stay.evidence(30) == 0);
  Random random(1);
  std::vector<double> left(200);
  for (double& each : left) each = exponential(random, 1 / 300.0);
  for (int second = 0; second < 20; ++second) {
    const std::size_t open = left.size();
    std::erase_if(left, [](double& each) { return --each <= 0; });
    stay.observe(1, open, static_cast<double>(open - left.size()));
  }
  CHECK(stay.doubt() < 1 / 8.0);
  CHECK(stay.evidence(30) > 0.98);
  CHECK(stay.seconds(30) > 180);
  CHECK(stay.seconds(30) < 420);
}

TEST_CASE("what sessions of another length have shown is soon forgotten") {
  ShownStay stay;
  for (int n = 0; n < 1000; ++n) stay.observe(5, 60, 1);  // of five minutes
  CHECK(stay.seconds(30) == doctest::Approx(300).epsilon(0.02));
  for (int n = 0; n < 600; ++n) stay.observe(1, 60, 1);
  CHECK(stay.seconds(30) == doctest::Approx(60).epsilon(0.1));
}

TEST_CASE("a long step shows nothing: no session could end meanwhile") {
  ShownStay stay;
  stay.observe(60, 100, 20);
  CHECK_FALSE(stay.has_shown());
}

TEST_CASE("the range holds four of five waits, and its middle is near them") {
  for (const std::size_t ahead : {10u, 100u, 1000u}) {
    for (const Flow& flow : {kPlain, kImpatient, kOvertaken, kBoth}) {
      const Played played = play(ahead, flow, flow);
      CAPTURE(ahead);
      CAPTURE(flow.leaving_per_second);
      CAPTURE(flow.higher_per_second);
      CHECK(played.within >= 0.75);
      CHECK(played.within <= (ahead == 10 ? 0.87 : 0.85));
      // No estimate is closer than the waits are to each other.
      const double spread = flow.higher_per_second > 0 ? 1.6 : 1;
      if (ahead >= 100) CHECK(played.error <= 0.10 * spread);
      if (ahead >= 1000) CHECK(played.error <= 0.05);
      if (ahead >= 100) CHECK(std::abs(played.bias) <= 0.05);
    }
  }
}

TEST_CASE("control: position over rate alone is wrong where people leave or are overtaken") {
  CHECK(play(1000, kImpatient, kPlain).error > 0.15);
  CHECK(play(1000, kImpatient, kPlain).within < 0.2);
  CHECK(play(1000, kOvertaken, kPlain).error > 0.2);
  CHECK(play(1000, kOvertaken, kPlain).within < 0.2);
}

TEST_CASE("there is no estimate if those who go before are as many as are called") {
  CHECK_FALSE(expected_wait(10, {.calls_per_second = 1, .higher_per_second = 1}));
  CHECK_FALSE(wait_quantiles(10, {.calls_per_second = 1, .higher_per_second = 1.5}));
  CHECK(expected_wait(10, {.calls_per_second = 1, .higher_per_second = 0.5}));
}

TEST_CASE("a rate that was learned from few events gives a wider range, as do uneven calls") {
  const Quantiles given = *wait_quantiles(100, {.calls_per_second = 1});
  const Quantiles learned = *wait_quantiles(100, {.calls_per_second = 1, .weight = 20});
  const Quantiles uneven = *wait_quantiles(100, {.calls_per_second = 1, .dispersion = 9});
  const Quantiles early = *wait_quantiles(100, {.calls_per_second = 1, .haste = 3});
  CHECK(learned.p90 > given.p90);
  CHECK(learned.p10 < given.p10);
  // Nine times the variance is three times the width.
  CHECK((uneven.p90 - uneven.p10) / (given.p90 - given.p10) == doctest::Approx(3).epsilon(0.05));
  CHECK(early.p10 == doctest::Approx(given.p10 / 3));
  CHECK(early.p90 == given.p90);
}

TEST_CASE("a range is widened on both sides in proportion") {
  const Range range = widened({.p10 = 50, .p50 = 100, .p90 = 150}, 2);
  CHECK(range.p10 == Milliseconds(25'000));
  CHECK(range.p90 == Milliseconds(225'000));
  CHECK(widened({.p10 = 50, .p50 = 100, .p90 = 150}, 1).p10 == Milliseconds(50'000));
}

TEST_CASE("a rate that rests on next to nothing gives a wide range, and no nonsense") {
  for (const double weight : {1.0, 0.1, 0.001}) {
    CAPTURE(weight);
    const Flow flow{.calls_per_second = 0.5, .weight = weight};
    const auto quantiles = wait_quantiles(100, flow);
    REQUIRE(quantiles);
    CHECK(quantiles->p50 > 0);
    const Range range = widened(*quantiles, 1);
    CHECK(range.p10 >= Milliseconds(0));
    CHECK(range.p90 > Milliseconds(202'000));
    CHECK(range.p90 < Milliseconds(86'400'000));
  }
}

}  // namespace spillway::waiting
