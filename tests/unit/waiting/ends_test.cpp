// What a waiting room says of tickets and sessions that are over, and of visitors who ask too
// often.
#include <doctest/doctest.h>

#include "crowd.hpp"

namespace spillway::waiting {
namespace {

struct Scene {
  explicit Scene(const Terms& terms) : room(terms) {}

  void pass(Milliseconds time) {
    for (const Time until = now + time; now < until;) room.tick(now += kTick, kHealthy);
  }
  bool join(std::uint64_t n) { return room.join(id_of(n), now, now).view.has_value(); }
  bool enter(std::uint64_t n) {
    pass(kTick);
    return room.claim(id_of(n), now).has_value();
  }
  std::optional<Ended> why(std::uint64_t n) const {
    const auto end = room.end_of(id_of(n), now);
    return end ? std::optional(end->why) : std::nullopt;
  }

  WaitingRoom room;
  Time now = kStart;
};

}  // namespace

TEST_CASE("a ticket that is over keeps its cause for three minutes") {
  Terms terms = terms_for(1, When::always);
  terms.attempts = 1;
  terms.claim = Milliseconds(20'000);
  terms.abandon = Milliseconds(150'000);
  Scene scene(terms);
  for (std::uint64_t n = 1; n <= 4; ++n) REQUIRE(scene.join(n));
  CHECK_FALSE(scene.why(1));
  SUBCASE("it was not heard of") {
    REQUIRE(scene.enter(1));
    scene.pass(Milliseconds(151'000));
    CHECK(scene.why(4) == Ended::abandoned);
    CHECK_FALSE(scene.room.hear(id_of(4), scene.now));
  }
  SUBCASE("it did not come when it was called") {
    scene.pass(Milliseconds(60'000));
    CHECK(scene.why(1) == Ended::not_claimed);
  }
  SUBCASE("it left") {
    REQUIRE(scene.room.cancel(id_of(2), scene.now));
    CHECK(scene.room.end_of(id_of(2), scene.now) == End{Ended::cancelled, scene.now, false});
    scene.pass(RecentlyEnded::kKept);
    CHECK(scene.why(2) == Ended::cancelled);
    scene.pass(kTick);
    CHECK_FALSE(scene.why(2));
  }
  SUBCASE("the operator ended it, or all of them") {
    REQUIRE(scene.room.cancel(id_of(2), scene.now, Ended::removed));
    CHECK(scene.why(2) == Ended::removed);
    scene.room.end_room(true);
    CHECK(scene.why(3) == Ended::room_ended);  // at once
    scene.pass(kTick);
    CHECK(scene.why(3) == Ended::room_ended);
    scene.room.end_room(false);
    CHECK(scene.why(3) == Ended::room_ended);
  }
}

TEST_CASE("a session that is over keeps its cause, and one that begins again has none") {
  Terms terms = terms_for(1);
  terms.idle = Milliseconds(10'000);
  Scene scene(terms);
  REQUIRE(scene.room.join(id_of(1), scene.now, scene.now).session);
  CHECK_FALSE(scene.why(1));
  scene.pass(kRenewAfter + terms.idle + kTick);
  CHECK(scene.why(1) == Ended::idle);
  CHECK(scene.room.end_of(id_of(1), scene.now)->was_session);
  REQUIRE(scene.room.join(id_of(1), scene.now, scene.now).session);
  CHECK_FALSE(scene.why(1));
}

TEST_CASE("who asks in a loop is told so, and keeps its place however long it does") {
  Scene scene(terms_for(1, When::always));
  REQUIRE(scene.join(1));
  REQUIRE(scene.enter(1));
  REQUIRE(scene.join(2));
  std::int64_t answered = 0;
  std::int64_t asked = 0;
  for (int tick = 0; tick < 6000; ++tick) {  // ten minutes, 200 polls a second
    scene.pass(kTick);
    scene.room.stay(id_of(1), scene.now);
    for (int n = 0; n < 20; ++n, ++asked) {
      const auto view = scene.room.ask(id_of(2), scene.now);
      REQUIRE(view);
      REQUIRE(view->ahead == 0);
      answered += view->asks_too_often ? 0 : 1;
    }
  }
  CHECK(asked == 120'000);
  // It is told 5 s to 30 s.
  CHECK(answered <= 600 / 5 * PollLimit::kTimes + PollLimit::kAtOnce);
  CHECK(answered >= 600 / 30 * PollLimit::kTimes);
  CHECK(scene.room.counts(scene.now).waiting == 1);
}

TEST_CASE("signs of life other than polls are not counted as such") {
  Scene scene(terms_for(1, When::always));
  REQUIRE(scene.join(1));
  REQUIRE(scene.join(2));
  for (int n = 0; n < 1000; ++n) REQUIRE(scene.room.hear(id_of(2), scene.now));
  CHECK_FALSE(scene.room.ask(id_of(2), scene.now)->asks_too_often);
}

TEST_CASE("a join says whether it made a ticket") {
  Terms terms = terms_for(1);
  terms.max_tickets = 1;
  Scene scene(terms);
  CHECK_FALSE(scene.room.join(id_of(1), scene.now, scene.now).has_joined);  // it enters
  CHECK(scene.room.join(id_of(2), scene.now, scene.now).has_joined);
  CHECK_FALSE(scene.room.join(id_of(2), scene.now, scene.now).has_joined);
  CHECK_FALSE(scene.room.join(id_of(3), scene.now, scene.now).has_joined);  // it is full
}

TEST_CASE("a ticket that was not written down does not come back once the room has ended") {
  for (const bool has_ended : {true, false}) {
    CAPTURE(has_ended);
    WaitingRoom room(terms_for(1, When::always));
    Written written;
    written.until = kStart;
    written.orders.has_ended = has_ended;
    room.restore(written, kStart + Milliseconds(1'000));
    room.recover(id_of(1), kStart, kStart + Milliseconds(1'000));
    CHECK(room.counts(kStart + Milliseconds(1'000)).waiting == (has_ended ? 0 : 1));
  }
}

}  // namespace spillway::waiting
