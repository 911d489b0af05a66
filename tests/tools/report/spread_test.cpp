#include "spread.hpp"

#include <doctest/doctest.h>

namespace spillway::report {

TEST_CASE("the median is the middle one and of an even number the mean of the middle two") {
  CHECK(spread_of({3, 1, 2}).median == 2);
  CHECK(spread_of({4, 1, 3, 2}).median == 2.5);
  CHECK(spread_of({7}).median == 7);
}

TEST_CASE("one wild measurement moves the range and not the median") {
  const Spread spread = spread_of({10, 11, 900, 9, 10});
  CHECK(spread.median == 10);
  CHECK(spread.lowest == 9);
  CHECK(spread.highest == 900);
  CHECK(spread.count == 5);
}

TEST_CASE("of nothing the count is zero") { CHECK(spread_of({}).count == 0); }

}  // namespace spillway::report
