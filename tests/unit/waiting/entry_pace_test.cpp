#include "waiting/entry_pace.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "crowd.hpp"

namespace spillway::waiting {
namespace {

// Visitors who came in ask for pages; a backend does so many a second, and what it cannot do waits.
// Its state follows the queue, as a shedder's would.
struct Site {
  double can_do = 100;  // requests a second
  double per_visitor = 1;
  double inside = 0;
  double queued = 0;
  double most_queued = 0;

  EntryPace::Health health() const {
    State state = State::normal;
    if (queued > 0.5 * can_do) state = State::elevated;
    if (queued > can_do) state = State::overloaded;
    return {.state = state, .are_waiting = queued > 0};
  }
  void pass(double seconds, double entered) {
    inside += entered - inside * seconds / 30;  // they stay for 30 s
    queued = std::max(0.0, queued + (inside * per_visitor - can_do) * seconds);
    most_queued = std::max(most_queued, queued);
  }
};

// Ten minutes, the backend half as quick from the fourth on.
Site play(bool follows) {
  EntryPace pace(400);
  Site site;
  for (int tick = 0; tick < 6000; ++tick) {
    if (tick == 2400) site.can_do = 50;
    const double allowed = pace.tick(kStart + kTick * tick, site.health());
    const double share = follows ? allowed : 1;
    site.pass(0.1, std::min(400 * share * 0.1, std::max(0.0, 400 - site.inside)));
  }
  return site;
}

}  // namespace

TEST_CASE("nobody is called while the upstream is overloaded, and few at first afterwards") {
  EntryPace pace(200);
  CHECK(pace.tick(kStart, {}) == doctest::Approx(0.05));
  CHECK(pace.tick(kStart + kTick, {.state = State::overloaded}) == 0);
  CHECK(pace.tick(kStart + 2 * kTick, {.state = State::critical}) == 0);
  const double after = pace.tick(kStart + 3 * kTick, {});
  CHECK(after > 0);
  CHECK(after <= 0.05);
}

TEST_CASE(
    "the pace grows by a tenth a second while it is needed, and halves while it is elevated") {
  EntryPace pace(200);
  double now = 0;
  for (int tick = 0; tick <= 100; ++tick) now = pace.tick(kStart + kTick * tick, {});
  CHECK(now == doctest::Approx(0.05 * 2.5937).epsilon(0.01));  // 1.1^10
  for (int tick = 101; tick <= 110; ++tick)
    now = pace.tick(kStart + kTick * tick, {.state = State::elevated});
  CHECK(now == doctest::Approx(0.05 * 2.5937 / 2).epsilon(0.01));
  CHECK(pace.tick(kStart + kTick * 111, {.are_waiting = true}) == doctest::Approx(now));
  CHECK(pace.tick(kStart + kTick * 112, {.is_refusing = true}) == doctest::Approx(now));
  const double less = pace.tick(kStart + kTick * 113, {.is_needed = false});
  CHECK(less == doctest::Approx(now / std::pow(1.1, 0.1)));
  for (int tick = 114; tick <= 300; ++tick)
    now = pace.tick(kStart + kTick * tick, {.is_needed = false});
  CHECK(now == doctest::Approx(0.05));
}

TEST_CASE("a pace that is needed half of the time is kept") {
  EntryPace pace(200);
  double now = 0;
  for (int tick = 0; tick <= 100; ++tick) now = pace.tick(kStart + kTick * tick, {});
  for (int tick = 101; tick <= 300; ++tick)
    now = pace.tick(kStart + kTick * tick, {.is_needed = tick % 2 == 0});
  CHECK(now == doctest::Approx(0.05 * 2.5937).epsilon(0.02));
}

TEST_CASE("one session is called once a second at first") {
  EntryPace pace(1);
  CHECK(pace.tick(kStart, {}) == 1);
}

TEST_CASE(
    "closed loop: entry follows a backend that loses half its capacity; without it the queue "
    "grows for ever") {
  const Site with = play(true);
  const Site without = play(false);
  MESSAGE("longest queue " << with.most_queued << ", without the pace " << without.most_queued);
  CHECK(with.most_queued < 20 * with.can_do);
  CHECK(with.queued < 3 * with.can_do);
  CHECK(with.inside > 15);
  CHECK(without.queued > 100 * without.can_do);
}

}  // namespace spillway::waiting
