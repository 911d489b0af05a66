#include "waiting/pace/entry_pace.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "unit/waiting/crowd.hpp"

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

TEST_CASE("slots of a small room that get free together are taken within a tick") {
  for (const std::uint32_t sessions : {1U, 2U, 3U, 4U, 5U, 10U}) {
    CAPTURE(sessions);
    WaitingRoom room(terms_for(sessions, When::always));
    EntryPace pace(sessions);
    Time now = kStart;
    const auto tick = [&](const EntryPace::Health& health = {.is_needed = false}) {
      room.tick(now += kTick, {.is_overloaded = false, .pace = pace.tick(now, health)});
    };
    const auto called = [&] { return room.counts(now).processing; };
    for (std::uint64_t n = 0; n < 3 * sessions; ++n) REQUIRE(room.join(id_of(n), now, now).view);
    for (int n = 0; n < 150; ++n) {
      tick();
      for (std::uint64_t each = 0; each < 3 * sessions; ++each) {
        room.hear(id_of(each), now);
        if (each < sessions) room.claim(id_of(each), now);
      }
    }
    REQUIRE(room.counts(now).active == sessions);
    REQUIRE(called() == 0);
    const std::uint32_t together = std::min(sessions, 5U);
    for (std::uint64_t n = 0; n < together; ++n) REQUIRE(room.cancel(id_of(n), now));
    tick();
    CHECK(called() == together);
    // Once: the pace holds for those who follow.
    for (std::uint64_t n = sessions; n < sessions + together; ++n) {
      REQUIRE(room.claim(id_of(n), now));
      REQUIRE(room.cancel(id_of(n), now));
    }
    tick();
    CHECK(called() == 0);
  }
}

TEST_CASE("after a pause of the upstream few are called at once") {
  WaitingRoom room(terms_for(200, When::always));
  EntryPace pace(200);
  Time now = kStart;
  for (std::uint64_t n = 0; n < 100; ++n) REQUIRE(room.join(id_of(n), now, now).view);
  for (int n = 0; n < 100; ++n)
    room.tick(now += kTick,
              {.is_overloaded = true, .pace = pace.tick(now, {.state = State::overloaded})});
  for (std::uint64_t n = 0; n < 100; ++n) room.hear(id_of(n), now);
  room.tick(now += kTick, {.is_overloaded = false, .pace = pace.tick(now, {})});
  CHECK(room.counts(now).processing == 1);
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
