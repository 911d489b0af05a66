// What nobody can do at the door: keep it open, keep it closed, or go in for somebody else.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "tide.hpp"

namespace spillway::waiting {
namespace {

using Door = WaitingRoom::Door;

void pass(WaitingRoom& room, Time& now, Milliseconds time) {
  for (const Time until = now + time; now < until;) room.tick(now += kTick, kHealthy);
}

constexpr Milliseconds kWhile{60'000};
constexpr double kLeast = 60;  // 20 sessions of twice Terms::idle within half an hour

// A room whose sessions have all begun.
class Full {
 public:
  explicit Full(std::uint32_t sessions = 20, std::uint32_t begun = 20)
      : Full(terms_for(sessions), begun) {}
  Full(const Terms& terms, std::uint32_t begun) : room(terms) {
    room.tick(now, kHealthy);
    for (; inside < begun; ++inside) REQUIRE(room.join(id_of(inside), now, now).session);
    room.tick(now += kTick, kHealthy);
  }
  void pass(Milliseconds time, const Backend& backend = kHealthy, Milliseconds tick = kTick) {
    for (const Time until = now + time; now < until;) {
      now += tick;
      for (std::uint64_t n = 0; n < inside; ++n) room.stay(id_of(n), now);
      room.tick(now, backend);
    }
  }
  // Some of them leave, one after the other, and others come in.
  void renew(std::uint64_t some) {
    for (std::uint64_t n = 0; n < some; ++n) {
      room.cancel(id_of(n), now);
      REQUIRE(room.join(id_of(100 + n), now, now).session);
    }
    pass(kTick);
  }
  double places() const { return room.space(0).places; }

  WaitingRoom room;
  Time now = kStart;
  std::uint64_t inside = 0;
};

}  // namespace

TEST_CASE("a first pass whose session has ended does not take the place of another visitor") {
  WaitingRoom room(terms_for(3));
  Time now = kStart;
  const Time issued = now;
  for (int n = 0; n < 3; ++n) REQUIRE(room.arrive(now) == Door::enter);
  pass(room, now, Milliseconds(1000));
  for (int n = 0; n < 3; ++n) {
    CHECK(room.use(id_of(1), 0, issued, now).use == Use::renewed);  // there is room
    CHECK(room.cancel(id_of(1), now));
  }
  CHECK(room.use(id_of(2), 0, issued, now).use == Use::renewed);
  CHECK(room.use(id_of(3), 0, issued, now).use == Use::renewed);
  CHECK(room.counts(now).active == 2);
}

TEST_CASE("an empty waiting room closes although somebody arrives every few seconds") {
  WaitingRoom room(terms_for(1));
  Time now = kStart;
  REQUIRE(room.arrive(now) == Door::enter);
  REQUIRE(room.arrive(now) == Door::wait);
  bool has_closed = false;
  for (int n = 0; n < 20 && !has_closed; ++n) {
    pass(room, now, Milliseconds(5000));
    has_closed = room.arrive(now) == Door::enter;
  }
  CHECK(has_closed);
  CHECK(now - kStart <= Milliseconds(95'000));  // the first entry counts for a minute
}

TEST_CASE("tickets that nobody hears of do not close the door") {
  Terms terms = terms_for(10, When::always);
  terms.per_minute = 1;
  terms.max_wait = Milliseconds(60'000);
  WaitingRoom room(terms);
  Time now = kStart;
  room.tick(now, {.is_overloaded = true});  // nobody is called
  CHECK(room.join(id_of(1), now, now).door == Door::wait);
  CHECK(room.arrive(now) == Door::full);
  for (const Time until = now + Milliseconds(30'000); now < until;)
    room.tick(now += kTick, {.is_overloaded = true});
  CHECK(room.counts(now).waiting == 1);
  CHECK(room.counts(now).present == 0);
  CHECK(room.arrive(now) == Door::wait);
}

TEST_CASE("while places cannot be written down newcomers get in nowhere, and get no place") {
  constexpr Backend kHeld{.newcomers = Newcomers::held};
  for (const When when : {When::always, When::full, When::overloaded}) {
    CAPTURE(static_cast<int>(when));
    WaitingRoom room(terms_for(2, when));
    Time now = kStart;
    room.tick(now, kHeld);
    CHECK(room.has_to_wait(now));
    CHECK(room.arrive(now) == Door::wait);
    const Contact joined = room.join(id_of(1), now, now);
    CHECK(joined.door == Door::wait);
    CHECK_FALSE(joined.view);
    CHECK_FALSE(joined.has_joined);
    CHECK(room.offer(id_of(1), now).door == Door::wait);
    CHECK(room.counts(now).joined == 0);
    CHECK(room.counts(now).entered == 0);
    // A stamp that was given meanwhile is good for a place by the arrival, before all later ones.
    room.tick(now += kTick, kHealthy);
    CHECK(room.join(id_of(1), now, now).has_joined);
    room.tick(now += kTick, kHealthy);
    CHECK(room.claim(id_of(1), now));
  }
}

TEST_CASE("while places cannot be written down who has one keeps it, and who is inside goes on") {
  constexpr Backend kHeld{.newcomers = Newcomers::held};
  WaitingRoom room(terms_for(1));
  Time now = kStart;
  room.tick(now, kHealthy);
  REQUIRE(room.join(id_of(1), now, now).session);
  REQUIRE(room.join(id_of(2), now, now).has_joined);
  room.tick(now += kTick, kHeld);
  CHECK(room.use(id_of(1), 1, now, now).use == Use::kept);
  CHECK(room.join(id_of(2), now, now).view);  // a second tab
  CHECK(room.cancel(id_of(1), now));
  for (const Time until = now + Milliseconds(5'000); now < until;) room.tick(now += kTick, kHeld);
  const auto view = room.hear(id_of(2), now);
  REQUIRE(view);
  CHECK(view->state == TicketState::waiting);
  CHECK(view->ahead == 0);
  CHECK(view->why == Why::paused);
  for (const Time until = now + Milliseconds(2'000); now < until;)
    room.tick(now += kTick, kHealthy);
  CHECK(room.claim(id_of(2), now));
}

TEST_CASE("a first pass that many share and none renews ends") {
  WaitingRoom room(terms_for(3));
  Time now = kStart;
  REQUIRE(room.arrive(now) == Door::enter);
  const Time issued = now;
  CHECK(room.use(id_of(1), 0, issued, now).use == Use::renewed);
  Use use = Use::kept;
  while (use != Use::copied && use != Use::over && now - kStart < Milliseconds(300'000)) {
    pass(room, now, Milliseconds(1000));
    use = room.use(id_of(1), 0, issued, now).use;
  }
  CHECK(use == Use::copied);
  CHECK(now - kStart <= Milliseconds(150'000));
  CHECK(room.counts(now).active == 0);
}

TEST_CASE("a ticket is shown again for as long as its first pass may have been lost") {
  WaitingRoom room(terms_for(1, When::always));
  Time now = kStart;
  room.join(id_of(1), now, now);
  pass(room, now, kTick);
  const auto begun = room.claim(id_of(1), now);
  REQUIRE(begun);
  const Time since = now;
  SUBCASE("the first response took longer than a slice") {
    pass(room, now, Milliseconds(90'000));
    const auto again = room.claim(id_of(1), now);
    REQUIRE(again);
    CHECK(again->generation == begun->generation);
    CHECK(room.counts(now).entered == 1);
  }
  SUBCASE("the pass was used: a ticket beside it is a copy") {
    pass(room, now, Milliseconds(70'000));
    CHECK(room.use(id_of(1), 1, since, now).use == Use::renewed);
    pass(room, now, Milliseconds(10'000));
    CHECK(room.claim(id_of(1), now));  // it was sent before
    pass(room, now, kTick);
    CHECK_FALSE(room.claim(id_of(1), now));
    CHECK(room.counts(now).active == 0);
  }
  SUBCASE("many who share it, and take no pass, end the session") {
    bool is_in = true;
    while (is_in && now - since < Milliseconds(300'000)) {
      pass(room, now, Milliseconds(1000));
      is_in = room.claim(id_of(1), now).has_value();
    }
    CHECK_FALSE(is_in);
    CHECK(now - since <= Milliseconds(155'000));
    CHECK(room.counts(now).sessions_ended[static_cast<std::size_t>(Ended::copied)] == 1);
  }
}

TEST_CASE("a first pass is good for a slice, also over a restart") {
  WaitingRoom room(terms_for(1));
  const Time now = kStart + Milliseconds(3'600'000);
  room.restore({.until = kStart, .places = {}}, now);
  CHECK(room.use(id_of(2), 0, now - Milliseconds(1000), now).use == Use::renewed);
  CHECK(room.use(id_of(1), 0, kStart + Milliseconds(1000), now).use == Use::over);
  CHECK(room.use(id_of(3), 1, now - Milliseconds(30'000), now).use == Use::renewed);
}

TEST_CASE("a crowd that comes before any rate is known gets no places for a whole day") {
  // Of 50,000 within a minute, who come when they are called, and stay for so long.
  const auto tickets_with = [](Milliseconds stay) {
    WaitingRoom room(terms_for(200, When::always));
    EventSet wanted{};
    wanted[static_cast<std::size_t>(Event::called)] = true;
    room.want_events(wanted);
    Time now = kStart;
    std::size_t tickets = 0;
    std::deque<std::pair<Time, TicketId>> inside;
    for (std::uint64_t n = 0; n < 50'000; ++n) {
      tickets += room.join(id_of(n), now, now).door == Door::wait ? 1 : 0;
      if (n % 100 != 99) continue;
      room.tick(now += Milliseconds(120), kHealthy);
      for (const TicketEvent& called : room.take_events(1000)) {
        if (room.claim(called.id, now)) inside.emplace_back(now + stay, called.id);
      }
      for (; !inside.empty() && inside.front().first <= now; inside.pop_front())
        room.cancel(inside.front().second, now);
    }
    return tickets;
  };
  // 200 at once, and 600 within half an hour if sessions last for as long as is believed at most.
  CHECK(tickets_with(std::chrono::minutes(5)) >= 800);
  CHECK(tickets_with(std::chrono::minutes(5)) <= 1400);  // that are reached
  // Once sessions have ended the rate is known: 20 a second.
  CHECK(tickets_with(std::chrono::seconds(10)) > 25'000);
}

TEST_CASE("sessions that stay leave fewer places than a guess") {
  CHECK(Full(20, 3).places() > 900);  // 1200 of 30 s each
  Full full;
  CHECK(full.places() == doctest::Approx(kLeast));
  full.pass(kWhile);
  CHECK(full.places() == doctest::Approx(kLeast));
  SUBCASE("and many again as soon as they end after all") {
    full.renew(20);
    CHECK(full.places() > 250);  // 600 of a minute each
  }
  SUBCASE("however long") {
    full.pass(10 * kWhile);
    CHECK(full.places() == doctest::Approx(kLeast));
  }
}

TEST_CASE("what is said of sessions counts, whatever they show") {
  Terms terms = terms_for(20);
  terms.expected_stay = Milliseconds(30'000);
  Full full(terms, 20);
  const double places = full.places();
  full.pass(kWhile);
  CHECK(full.places() == doctest::Approx(places));
}

TEST_CASE("sessions show nothing while no visitor could come in") {
  Full full;
  full.pass(kWhile);
  full.renew(20);
  const double places = full.places();
  SUBCASE("control: one could") {
    full.pass(kWhile);
    CHECK(full.places() < 0.8 * places);
    return;
  }
  SUBCASE("paused") {
    full.room.pause(true);
    full.pass(kWhile);
  }
  SUBCASE("places cannot be written down") { full.pass(kWhile, {.newcomers = Newcomers::held}); }
  SUBCASE("the upstream is overloaded") { full.pass(kWhile, {.is_overloaded = true}); }
  SUBCASE("an outage") { full.pass(kWhile, kHealthy, kWhile); }
  CHECK(full.places() == doctest::Approx(places));
}

TEST_CASE("the few sessions of a quiet hour show nothing") {
  Full full(20, 3);
  const double places = full.places();
  full.pass(10 * kWhile);
  CHECK(full.places() == doctest::Approx(places));
}

// The control: sessions of five minutes have all begun, and a visitor waits for their ends.
TEST_CASE("sessions show nothing where per_minute holds visitors up") {
  for (const bool is_held_up : {true, false}) {
    CAPTURE(is_held_up);
    Terms terms = terms_for(is_held_up ? 100 : 20);
    if (is_held_up) terms.per_minute = 20;
    Full full(terms, 20);
    REQUIRE(full.room.join(id_of(100), full.now, full.now).door == Door::wait);
    full.pass(Milliseconds(10'000));
    CHECK((full.places() > 300) == is_held_up);
  }
}

TEST_CASE("ends count as the time before them, also in a small room that no visitor waits for") {
  Full full(5, 5);
  for (int n = 0; n < 50; ++n) {  // sessions of a minute, one after the other
    full.pass(Milliseconds(12'000));
    full.room.cancel(id_of(full.inside - 5), full.now);
    full.pass(kTick);
    REQUIRE(full.room.join(id_of(full.inside++), full.now, full.now).session);
  }
  CHECK(full.places() > 80);  // 150 are reached in half an hour, 115 nearly surely
}

TEST_CASE("a small room has ten places in any case") {
  Full full(1, 1);
  full.pass(10 * kWhile);
  for (std::uint64_t n = 1; n <= 10; ++n)
    CHECK(full.room.join(id_of(n), full.now, full.now).has_joined);
  CHECK(full.room.join(id_of(11), full.now, full.now).door == Door::full);
}

// Whose calls it holds up come in together when it is over.
TEST_CASE("an overload of half a minute leaves the door as open as it was") {
  Terms terms = long_line(200);
  terms.max_wait = Milliseconds(1'800'000);
  constexpr std::uint64_t kRooms = 6;  // in one of them calls come so that it seems to be slower
  for (const std::int64_t seconds : {30, 60}) {
    CAPTURE(seconds);
    double left = 0;
    for (std::uint64_t seed = 1; seed <= kRooms; ++seed) {
      TidePlay play(terms, {.streams = {{0, 0.66}}, .at_first = 700, .seed = seed});
      play.pass(std::chrono::hours(1));
      const double before = play.room().space(0).places;
      play.backend.is_overloaded = true;
      play.pass(Milliseconds(seconds * 1000));
      play.backend = kHealthy;
      double least = before;
      for (int n = 0; n < 30; ++n) {
        play.pass(Milliseconds(10'000));
        least = std::min(least, play.room().space(0).places);
      }
      left += least / before / kRooms;
    }
    MESSAGE(seconds << " s: of the places before are left " << left << " at least");
    CHECK(left >= (seconds > 30 ? 0.5 : 0.8));
  }
}

}  // namespace spillway::waiting
