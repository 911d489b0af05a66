#include "proxy/server/watchdog.hpp"

#include <doctest/doctest.h>

namespace spillway::proxy {
namespace {

constexpr Milliseconds kInterval{1600};

// Two workers' loops and the control's, on simulated time.
struct Loops {
  Heartbeat first, second, control;
  TimePoint now = TimePoint{} + Milliseconds{5'000};
  Watchdog watchdog{kInterval, {&first, &second, &control}, now};

  // All that turn do so every 10 ms; how often the watchdog was fed in this time.
  int feedings(Milliseconds time, bool second_turns = true, bool control_turns = true) {
    int fed = 0;
    for (const TimePoint end = now + time; now < end;) {
      now += Milliseconds{10};
      first.beat();
      if (second_turns) second.beat();
      if (control_turns) control.beat();
      if (now >= watchdog.next_check()) fed += watchdog.may_feed(now);
    }
    return fed;
  }
};

}  // namespace

TEST_CASE("while all loops turn the watchdog is fed at half of its interval") {
  Loops loops;
  CHECK(loops.feedings(Milliseconds{790}) == 0);
  CHECK(loops.feedings(Milliseconds{10}) == 1);
  CHECK(loops.feedings(Milliseconds{8'000}) == 10);
}

TEST_CASE("one worker that is blocked stops the feeding") {
  Loops loops;
  CHECK(loops.feedings(Milliseconds{1'600}) == 2);
  CHECK(loops.feedings(Milliseconds{60'000}, false) <= 1);  // it had turned since the last time
}

TEST_CASE("a control thread that is blocked stops the feeding") {
  Loops loops;
  CHECK(loops.feedings(Milliseconds{1'600}) == 2);
  CHECK(loops.feedings(Milliseconds{60'000}, true, false) <= 1);
}

TEST_CASE("a loop that turns again after a pause is soon fed for") {
  Loops loops;
  CHECK(loops.feedings(Milliseconds{1'600}) == 2);
  CHECK(loops.feedings(Milliseconds{1'500}, false) == 0);
  CHECK(loops.feedings(Milliseconds{110}) == 1);
  CHECK(loops.feedings(Milliseconds{680}) == 0);
}

TEST_CASE("a loop that never began is not taken for one that turns") {
  Loops loops;
  CHECK(loops.feedings(Milliseconds{60'000}, false) == 0);
}

TEST_CASE("an early question is answered no") {
  Loops loops;
  loops.first.beat();
  loops.second.beat();
  loops.control.beat();
  CHECK_FALSE(loops.watchdog.may_feed(loops.now));
  CHECK_FALSE(loops.watchdog.may_feed(loops.watchdog.next_check() - Milliseconds{1}));
  CHECK(loops.watchdog.may_feed(loops.watchdog.next_check()));
}

}  // namespace spillway::proxy
