#include "dispatch/estimate/abandoned_hold.hpp"

#include <doctest/doctest.h>

#include <optional>

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

TEST_CASE("an abandoned request keeps its slot for as long as is known, and two seconds at least") {
  struct Case {
    Duration stayed;
    std::optional<Duration> usual;
    Duration learned, timeout, hold;
  };
  const Case cases[]{
      {15ms, std::nullopt, 0ms, 30s, 30s},  // nothing is known
      {15ms, 5ms, 0ms, 30s, 2015ms},        // of quick answers only
      {15ms, 5ms, 300ms, 30s, 2015ms},      // of a time before the machine was slow
      {15ms, 3s, 300ms, 30s, 3s},          {15ms, 5ms, 4s, 30s, 4s},    {3s, 5ms, 300ms, 30s, 5s},
      {29s, 5ms, 300ms, 30s, 31s},         {15ms, 5ms, 4s, 1s, 2015ms}, {15ms, 5ms, 40s, 30s, 30s},
  };
  for (const Case& c : cases) {
    CAPTURE(to_milliseconds(c.hold));
    CHECK(hold_past_leaving(c.stayed, c.usual, c.learned, c.timeout) == c.hold);
  }
}
