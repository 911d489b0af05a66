#include "simulate/series.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "unit/simulate/recordings.hpp"

namespace spillway::simulate {

TEST_CASE("runs whose peaks lie more than ten times apart need a logarithmic axis") {
  CHECK(!extent({{1, 5}, {0.5, 40}}, 0.1).logarithmic);
  CHECK(extent({{1, 3}, {0.5, 40}}, 0.1).logarithmic);
  CHECK(!extent({{0.2, 4000}}, 0.1).logarithmic);
  const Extent both = extent({{1, 3}, {0.5, 40}}, 0.1);
  CHECK(both.low == 0.5);
  CHECK(both.high == 40);
}

TEST_CASE("a logarithmic axis does not begin below the least value worth telling") {
  CHECK(extent({{0, 1e-9}, {500}}, 1).low == 1);
  CHECK(extent({{0, 0}, {500}}, 1).logarithmic);
  CHECK(!extent({{0, 0}, {9}}, 1).logarithmic);
}

TEST_CASE("an extent ignores what is not a number") {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Extent one = extent({{kNaN, 2, kInfinity, -kInfinity}}, 0.1);
  CHECK(one.high == 2);
  CHECK(one.low == 2);
  CHECK(extent({{kNaN}, {}}, 0.1).high == 0);
  CHECK(extent({}, 0.1).high == 0);
}

TEST_CASE("series have a value each second and tell no latency where nothing was answered") {
  Recording run = made_up_run(2, 3);
  run.seconds[1].p95 = 0;
  run.seconds[2].classes.resize(1);
  const Values latency = tail_latency(run);
  REQUIRE(latency.size() == 3);
  CHECK(std::isfinite(latency[0]));
  CHECK(std::isnan(latency[1]));
  const Values offered = counts(run, 1, &ClassCounts::offered);
  REQUIRE(offered.size() == 3);
  CHECK(offered[0] == static_cast<double>(run.seconds[0].classes[1].offered));
  CHECK(offered[2] == 0);
  CHECK(sum({1, 2, 3}, {10, 20}) == Values{11, 22});
}

}  // namespace spillway::simulate
