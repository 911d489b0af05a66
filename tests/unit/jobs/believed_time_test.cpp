// The time that deleting goes by, and what the wall clock says meanwhile.
#include "jobs/believed_time.hpp"

#include <doctest/doctest.h>

namespace spillway::jobs {
namespace {

using namespace std::chrono_literals;

struct Clocks {
  BelievedTime believed;
  WallTime wall{WallTime(std::chrono::hours(1000))};
  TimePoint now{TimePoint(std::chrono::hours(5))};

  void pass(std::chrono::milliseconds time) {
    wall += time;
    now += time;
  }
  // By how much less than the wall clock tells.
  std::chrono::milliseconds behind() { return wall - believed.at(wall, now); }
};

}  // namespace

TEST_CASE("the first time that the clock tells is believed, and so is one that goes on") {
  Clocks clocks;
  CHECK(clocks.behind() == 0ms);
  for (int n = 0; n < 100; ++n) {
    clocks.pass(500ms);
    CHECK(clocks.behind() == 0ms);
  }
  clocks.pass(30h);  // nobody asked meanwhile
  CHECK(clocks.behind() == 0ms);
  clocks.wall += 59s;  // no step
  CHECK(clocks.behind() == 0ms);
}

TEST_CASE("a step forward is believed after an hour, and time goes on meanwhile") {
  Clocks clocks;
  clocks.behind();
  clocks.wall += 25h;
  for (std::chrono::milliseconds passed = 0ms; passed < 1h; passed += 1s) {
    CHECK(clocks.behind() == 25h);
    clocks.pass(1s);
  }
  CHECK(clocks.behind() == 0ms);
  clocks.pass(1s);
  CHECK(clocks.behind() == 0ms);
}

TEST_CASE("a step forward that is taken back was none, and the next one counts anew") {
  Clocks clocks;
  clocks.behind();
  clocks.wall += 25h;
  clocks.pass(59min);
  CHECK(clocks.behind() == 25h);
  clocks.wall -= 25h;
  CHECK(clocks.behind() == 0ms);
  clocks.wall += 25h;
  CHECK(clocks.behind() == 25h);
  clocks.pass(59min);
  CHECK(clocks.behind() == 25h);
  clocks.pass(1min);
  CHECK(clocks.behind() == 0ms);
}

TEST_CASE("a step back is believed at once") {
  Clocks clocks;
  clocks.behind();
  clocks.wall -= 25h;
  CHECK(clocks.behind() == 0ms);
  clocks.pass(1s);
  CHECK(clocks.behind() == 0ms);
}

}  // namespace spillway::jobs
