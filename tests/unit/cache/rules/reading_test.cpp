#include "cache/rules/reading.hpp"

#include <doctest/doctest.h>

using namespace spillway::cache;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("a reader whose memory is wanted has a grace and then a rate to keep") {
  constexpr std::uint64_t kEnough = 5 * kReadingRate;
  CHECK(may_go_on({seconds(0), 0}));
  CHECK(may_go_on({kReadingGrace - milliseconds(1), 0}));
  CHECK_FALSE(may_go_on({kReadingGrace, 0}));
  CHECK(may_go_on({kReadingGrace, kEnough}));
  CHECK_FALSE(may_go_on({kReadingGrace, kEnough - 1}));
  CHECK(may_go_on({seconds(60), 60 * kReadingRate}));
  CHECK_FALSE(may_go_on({std::chrono::hours(1), 10 << 20}));
}
