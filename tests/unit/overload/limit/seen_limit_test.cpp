#include "overload/limit/seen_limit.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "overload/limit/make_limit.hpp"

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

// An upstream of `slots` that take `held` seconds each, asked for `offered` a second for a minute;
// what it cannot do waits there, until there are a thousand.
void run(SeenLimit& limit, double slots, double held, double offered) {
  const double done = std::min(offered, slots / held);
  for (int tick = 1; tick <= 600; ++tick) {
    const double queued = std::min(1000.0, 0.1 * tick * (offered - done));
    limit.step(
        {.span = 100ms, .slot_seconds = 0.1 * (done * held + queued), .released = 0.1 * done},
        TimePoint{} + tick * 100ms);
  }
}

}  // namespace

TEST_CASE("in shadow mode the limit rises to what the upstream works on without a queue") {
  SeenLimit limit({}, 1);
  CHECK(limit.limit() == 64);
  run(limit, 256, 0.05, 200 / 0.05);
  CHECK(limit.limit() == 250);
  run(limit, 256, 0.05, 10 / 0.05);
  CHECK(limit.limit() == 250);
}

TEST_CASE("in shadow mode a queue does not raise the limit") {
  SeenLimit limit({}, 1);
  run(limit, 64, 0.05, 40 / 0.05);
  run(limit, 64, 0.05, 100 / 0.05);
  CHECK(limit.limit() <= 100);
  SeenLimit small({}, 1);
  run(small, 4, 0.2, 2 / 0.2);
  run(small, 4, 0.2, 8 / 0.2);
  CHECK(small.limit() == 64);
}

TEST_CASE("in shadow mode the limit keeps its bounds") {
  SeenLimit limit({.max = 100}, 1);
  run(limit, 256, 0.05, 200 / 0.05);
  CHECK(limit.limit() == 100);
  CHECK(SeenLimit({.max = 32}, 1).limit() == 32);
  CHECK(SeenLimit({.initial = 8}, 20).limit() == 20);
  CHECK(make_limit({}, 1, config::Mode::shadow)->limit() == 64);
}
