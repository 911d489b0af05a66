#include "overload/control/limit_at_max.hpp"

#include <doctest/doctest.h>

namespace spillway::overload {
namespace {

using namespace std::chrono_literals;
using Change = LimitAtMax::Change;

// Ticks of 100 ms. The limit is `high` in every other turn of 600 ms.
struct Watch {
  Change after(Duration time, std::uint32_t low, std::uint32_t high, bool is_short) {
    Change seen = Change::none;
    for (Duration passed{0}; passed < time; passed += 100ms) {
      const bool is_high = passed / 600ms % 2 == 0;
      const Change change =
          at_max.step(is_high ? high : low, {.span = 100ms, .is_short = is_short});
      if (change != Change::none) seen = change;
    }
    return seen;
  }

  LimitAtMax at_max{1000};
};

}  // namespace

TEST_CASE("a limit that stands at its bound while more is offered is told of once") {
  Watch watch;
  CHECK(watch.after(20s, 1000, 1000, true) == Change::none);
  CHECK(watch.after(5s, 1000, 1000, true) == Change::began);
  CHECK(watch.at_max.is_on());
  CHECK(watch.after(10min, 1000, 1000, true) == Change::none);
  CHECK(watch.after(60s, 500, 500, true) == Change::none);
  CHECK(watch.after(120s, 500, 500, true) == Change::ended);
  CHECK_FALSE(watch.at_max.is_on());
}

TEST_CASE("so is one that is compared with a lower one in turns") {
  Watch watch;
  CHECK(watch.after(70s, 830, 1000, true) == Change::began);
  CHECK(watch.after(10min, 830, 1000, true) == Change::none);
}

TEST_CASE("neither a limit below its bound nor one that lets all in is told of") {
  Watch watch;
  CHECK(watch.after(10min, 830, 999, true) == Change::none);
  CHECK(watch.after(10min, 1000, 1000, false) == Change::none);
}

TEST_CASE("a step up to the bound that is taken back is not told of") {
  Watch watch;
  for (int i = 0; i < 10; ++i) {
    CHECK(watch.after(15s, 1000, 1000, true) == Change::none);
    CHECK(watch.after(90s, 500, 500, true) == Change::none);
  }
}

TEST_CASE("a reload with a higher bound ends it after a while, and does not tell it again") {
  Watch watch;
  watch.after(60s, 1000, 1000, true);
  Watch next{.at_max = LimitAtMax(2000)};
  next.at_max.continue_from(watch.at_max);
  CHECK(next.at_max.is_on());
  CHECK(next.after(5s, 1000, 1000, true) == Change::none);
  CHECK(next.after(3min, 1500, 1500, true) == Change::ended);
}

}  // namespace spillway::overload
