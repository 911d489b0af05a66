#include "system/soak/trend.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "system/soak/random.hpp"

namespace spillway::soak {
namespace {

constexpr double kMebi = 1024 * 1024;

// What a proxy's memory looks like over two minutes at so many requests a second: it warms up, then
// wanders by pages, with a spike now and then; and it loses `leaked` bytes a request.
std::vector<Point> memory(double leaked, double requests_per_second = 1500, std::size_t seed = 1) {
  Random random(seed);
  std::vector<Point> points;
  double wandering = 0;
  for (int second = 0; second < 100; ++second) {
    const double requests = second * requests_per_second;
    const double warm = second < 30 ? second * 0.3 * kMebi : 9 * kMebi;
    wandering += (static_cast<double>(random.below(2001)) - 1000) / 1000 * 0.05 * kMebi;
    const double spike = random.chance(0.1) ? 12 * kMebi : 0;
    points.push_back({requests, 150 * kMebi + warm + wandering + spike + leaked * requests});
  }
  return points;
}

}  // namespace

TEST_CASE("the slope of a line is its slope") {
  const std::vector<Point> line{{0, 3}, {1, 5}, {2, 7}, {10, 23}};
  CHECK(slope(line) == doctest::Approx(2));
  CHECK(slope(std::span(line).first(1)) == 0);
  CHECK(slope({}) == 0);
}

TEST_CASE("points of the same place have no slope among them") {
  const std::vector<Point> points{{1, 5}, {1, 900}, {2, 6}};
  CHECK(slope(points) < 2);
}

TEST_CASE("a quarter of the points may be anything") {
  std::vector<Point> line;
  for (int x = 0; x < 40; ++x) line.push_back({x * 1.0, x % 4 == 0 ? 1e9 : 7.0 * x});
  CHECK(slope(line) == doctest::Approx(7).epsilon(0.01));
}

TEST_CASE("memory that warms up and then wanders is flat") {
  for (std::size_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    CHECK(is_flat(memory(0, 1500, seed)));
  }
}

TEST_CASE("a leak of 100 bytes a request is none that is flat") {
  for (std::size_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    CHECK_FALSE(is_flat(memory(100, 1500, seed)));
  }
}

TEST_CASE("a few megabytes between few requests are no leak and between many requests are one") {
  std::vector<Point> few, many;
  for (int second = 0; second < 100; ++second) {
    few.push_back({second * 100.0, 150 * kMebi + second * 0.04 * kMebi});
    many.push_back({second * 1000.0, 150 * kMebi + second * 0.2 * kMebi});
  }
  CHECK(slope(few) > kMostBytesPerRequest);
  CHECK(is_flat(few));
  CHECK_FALSE(is_flat(many));
  CHECK(is_flat({}));
}

TEST_CASE("what warms up in the first half is no leak") {
  std::vector<Point> points;
  for (int second = 0; second < 100; ++second) {
    const double requests = second * 1000.0;
    points.push_back({requests, second < 50 ? requests * 1000 : 50e6});
  }
  CHECK(slope(points) > kMostBytesPerRequest);
  CHECK(is_flat(points));
}

TEST_CASE("open files that come and go are level and two a second that stay are not") {
  Random random(1);
  std::vector<Point> coming_and_going, staying;
  for (int second = 0; second < 100; ++second) {
    const double open = 100 + static_cast<double>(random.below(60));
    coming_and_going.push_back({second * 1.0, open});
    staying.push_back({second * 1.0, open + 2 * second});
  }
  CHECK(is_level(coming_and_going));
  CHECK_FALSE(is_level(staying));
  CHECK(is_level({}));
}

}  // namespace spillway::soak
