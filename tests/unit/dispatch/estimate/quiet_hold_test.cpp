#include "dispatch/estimate/quiet_hold.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

enum class Load : bool { quiet, busy };

struct Learned {
  QuietHold hold;
  TimePoint now = TimePoint{} + 1h;

  void give_back(int slots, Duration held, Load load) {
    for (int i = 0; i < slots; ++i) hold.record(held, load == Load::quiet, now += 100ms);
  }
};

}  // namespace

TEST_CASE("the time of a slot is known after fifty") {
  Learned learned;
  learned.give_back(49, 2s, Load::busy);
  CHECK_FALSE(learned.hold.seconds());
  learned.give_back(1, 2s, Load::busy);
  CHECK(*learned.hold.seconds() == doctest::Approx(2));
}

TEST_CASE("an upstream that is stalled or asked for too much is not waited for any longer") {
  Learned learned;
  learned.give_back(50, 200ms, Load::quiet);
  learned.give_back(5000, 2s, Load::busy);
  CHECK(*learned.hold.seconds() == doctest::Approx(0.2));
}

TEST_CASE("a period that is quiet for a part of it teaches nothing longer") {
  Learned learned;
  learned.give_back(50, 200ms, Load::quiet);
  for (int i = 0; i < 20; ++i) {
    learned.give_back(49, 2s, Load::quiet);
    learned.give_back(1, 2s, Load::busy);
  }
  CHECK(*learned.hold.seconds() == doctest::Approx(0.2));
}

TEST_CASE("in quiet it follows, up and down; a shorter time is believed at any load") {
  Learned learned;
  learned.give_back(50, 200ms, Load::quiet);
  learned.give_back(51, 2s, Load::quiet);
  CHECK(*learned.hold.seconds() == doctest::Approx(2));
  learned.give_back(51, 1s, Load::busy);
  CHECK(*learned.hold.seconds() == doctest::Approx(1));
  learned.give_back(51, 500ms, Load::quiet);
  CHECK(*learned.hold.seconds() == doctest::Approx(0.5));
}

TEST_CASE("of an overload that is there from the beginning the first requests count") {
  Learned learned;
  learned.give_back(50, 200ms, Load::busy);
  for (Duration held = 300ms; held < 5s; held += 100ms) learned.give_back(50, held, Load::busy);
  CHECK(*learned.hold.seconds() == doctest::Approx(0.2));
}
