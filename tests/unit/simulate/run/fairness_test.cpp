#include "simulate/run/fairness.hpp"

#include <doctest/doctest.h>

using spillway::simulate::max_min_fairness;

TEST_CASE("a max-min fair division has index one whatever the demands") {
  CHECK(max_min_fairness({10, 10, 10}, {5, 5, 5}) == doctest::Approx(1));
  CHECK(max_min_fairness({90, 10, 10}, {40, 10, 10}) == doctest::Approx(1));
  CHECK(max_min_fairness({90, 10}, {90, 10}) == doctest::Approx(1));
}

TEST_CASE("a division in proportion to the demands is unfair to the modest") {
  // Shares relative to the fair ones, 18 6 6: 27/18 and 1.5/5 twice.
  CHECK(max_min_fairness({90, 5, 5}, {27, 1.5, 1.5}) == doctest::Approx(0.63).epsilon(0.01));
}

TEST_CASE("the index is 1/n when one sharer has everything") {
  CHECK(max_min_fairness({10, 10, 10, 10}, {8, 0, 0, 0}) == doctest::Approx(0.25));
}

TEST_CASE("sharers without demand do not count and no demand at all is fair") {
  CHECK(max_min_fairness({10, 0, 10}, {5, 0, 5}) == doctest::Approx(1));
  CHECK(max_min_fairness({}, {}) == 1);
  CHECK(max_min_fairness({10, 10}, {0, 0}) == 1);
}

TEST_CASE("shares in proportion to weights are fair") {
  CHECK(max_min_fairness({90, 90, 90}, {30, 10, 5}, {3, 1, 0.5}) == doctest::Approx(1));
  CHECK(max_min_fairness({90, 90, 90}, {30, 10, 5}) < 0.7);
  CHECK(max_min_fairness({20, 90, 90}, {20, 10, 5}, {3, 1, 0.5}) == doctest::Approx(1));
}
