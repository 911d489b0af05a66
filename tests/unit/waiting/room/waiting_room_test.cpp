#include "waiting/room/waiting_room.hpp"

#include <doctest/doctest.h>

#include <map>

#include "unit/waiting/crowd.hpp"

namespace spillway::waiting {
namespace {

using Door = WaitingRoom::Door;

// A waiting room with its clock.
struct Scene {
  explicit Scene(const Terms& terms) : room(terms) {}

  void pass(Milliseconds time, const Backend& backend = kHealthy) {
    for (const Time until = now + time; now < until;) room.tick(now += kTick, backend);
  }
  WaitingRoom::Contact join(std::uint64_t number) { return room.join(id_of(number), now, now); }
  std::optional<WaitingRoom::View> hear(std::uint64_t number) {
    return room.hear(id_of(number), now);
  }
  bool is_called(std::uint64_t number) {
    const auto view = hear(number);
    return view && view->state == TicketState::processing;
  }
  bool claim(std::uint64_t number) { return room.claim(id_of(number), now).has_value(); }
  // It is inside, and asks for a page with the pass it has.
  bool stays(std::uint64_t number) {
    const auto pass = passes.try_emplace(number, Pass{1, now - kRenewAfter}).first;
    const Renewal renewal =
        room.use(id_of(number), pass->second.generation, pass->second.issued, now);
    if (renewal.use == Use::renewed) pass->second = {renewal.generation, now};
    return renewal.use == Use::renewed || renewal.use == Use::kept;
  }
  Counts counts() const { return room.counts(now); }

  struct Pass {
    std::uint32_t generation = 1;
    Time issued{};
  };
  WaitingRoom room;
  Time now = kStart;
  std::map<std::uint64_t, Pass> passes;
};

std::uint64_t ended(const Counts& counts, Ended why) {
  return counts.tickets_ended[static_cast<std::size_t>(why)];
}

}  // namespace

TEST_CASE("who is called gets more time as often as configured, and no session waits for it") {
  Terms terms = terms_for(1, When::always);
  terms.claim = Milliseconds(20'000);
  terms.attempts = 1;
  terms.claim_extensions = 10;
  Scene scene(terms);
  for (std::uint64_t n = 1; n <= 2; ++n) REQUIRE(scene.join(n).view);
  REQUIRE_FALSE(scene.room.extend(id_of(1), scene.now)->is_granted);  // it is not called
  CHECK_FALSE(scene.room.extend(id_of(9), scene.now));
  scene.pass(kTick);
  REQUIRE(scene.is_called(1));
  for (std::uint32_t left = 10; left > 0; --left) {
    scene.pass(Milliseconds(19'000));
    scene.hear(2);
    const auto extension = scene.room.extend(id_of(1), scene.now);
    REQUIRE(extension);
    CHECK(extension->is_granted);
    CHECK(extension->view.extensions == left - 1);
    CHECK(extension->view.claim_until == scene.now + terms.claim);
  }
  CHECK(scene.counts().called > 1);  // others were, meanwhile
  CHECK_FALSE(scene.room.extend(id_of(1), scene.now)->is_granted);
  SUBCASE("it comes in the time that it was given") {
    scene.pass(Milliseconds(19'000));
    CHECK(scene.claim(1));
  }
  SUBCASE("after that its call is missed") {
    scene.pass(Milliseconds(21'000));
    CHECK(ended(scene.counts(), Ended::not_claimed) >= 1);
    CHECK_FALSE(scene.hear(1));
  }
}

TEST_CASE("while there is room visitors go on, and count as taken for a minute") {
  Scene scene(terms_for(3));
  for (int n = 0; n < 3; ++n) CHECK(scene.room.arrive(scene.now) == Door::enter);
  CHECK(scene.counts().provisional == 3);
  CHECK(scene.room.arrive(scene.now) == Door::wait);
  CHECK(scene.counts().entry.is_open);
  scene.pass(Milliseconds(61'000));
  CHECK(scene.counts().provisional == 0);
  CHECK(scene.room.arrive(scene.now) == Door::enter);
}

TEST_CASE(
    "an entry that ends before its pass is shown makes room at once, and becomes no session") {
  Scene scene(terms_for(1));
  REQUIRE(scene.room.arrive(scene.now) == Door::enter);
  const Time issued = scene.now;
  CHECK_FALSE(scene.room.cancel(id_of(1), scene.now));  // nothing says that it has entered
  CHECK(scene.room.cancel(id_of(1), scene.now, Ended::cancelled, issued));
  CHECK(scene.counts().provisional == 0);
  CHECK(scene.room.arrive(scene.now) == Door::enter);
  // Again, as by a second click: the entry that is left of that second is another visitor's.
  CHECK_FALSE(scene.room.cancel(id_of(1), scene.now, Ended::cancelled, issued));
  CHECK(scene.counts().provisional == 1);
  CHECK(scene.room.use(id_of(1), 0, issued, scene.now).use == Use::over);
  CHECK(scene.room.use(id_of(2), 0, issued, scene.now).use == Use::renewed);
}

TEST_CASE("a provisional pass becomes a session once, whoever shows it how often") {
  Scene scene(terms_for(1));
  REQUIRE(scene.room.arrive(scene.now) == Door::enter);
  const Time issued = scene.now;
  scene.pass(Milliseconds(1000));
  const Renewal first = scene.room.use(id_of(1), 0, issued, scene.now);
  CHECK(first.use == Use::renewed);
  CHECK(first.generation == 1);
  CHECK(scene.room.use(id_of(1), 0, issued, scene.now).use == Use::kept);  // another tab
  CHECK(scene.counts().active == 1);
  CHECK(scene.counts().provisional == 0);
  // None is left for another pass of that second: it waits.
  CHECK(scene.room.use(id_of(2), 0, issued, scene.now).use == Use::waits);
  CHECK(scene.counts().active == 1);
}

TEST_CASE("tickets stand in the order of arrival, whenever they come back") {
  Scene scene(terms_for(1, When::always));
  const Time early = scene.now;
  scene.pass(Milliseconds(5000));
  scene.room.join(id_of(2), scene.now, scene.now);
  scene.room.join(id_of(1), early, scene.now);
  CHECK(scene.hear(1)->ahead == 0);
  CHECK(scene.hear(2)->ahead == 1);
  scene.pass(kTick);
  CHECK(scene.is_called(1));
}

TEST_CASE("the same stamp is the same ticket") {
  Scene scene(terms_for(1, When::always));
  scene.join(1);
  scene.join(2);
  scene.join(2);
  CHECK(scene.counts().joined == 2);
  CHECK(scene.hear(2)->ahead == 1);
}

TEST_CASE("of the event streams of a ticket the newest goes on") {
  Scene scene(terms_for(1));
  scene.room.hold_open(true);
  scene.join(1);
  scene.join(2);
  const std::uint32_t first = scene.room.follow(id_of(2));
  CHECK_FALSE(scene.room.is_superseded(id_of(2), first));
  const std::uint32_t second = scene.room.follow(id_of(2));
  CHECK(scene.room.is_superseded(id_of(2), first));
  CHECK_FALSE(scene.room.is_superseded(id_of(2), second));
  CHECK(scene.room.follow(id_of(3)) == 0);
  CHECK_FALSE(scene.room.is_superseded(id_of(3), 1));  // it has ended, and says so itself
}

TEST_CASE("a session begins with the visit, once, and ends by disuse or age") {
  Terms terms = terms_for(1, When::always);
  terms.idle = Milliseconds(60'000);
  terms.session_ttl = Milliseconds(200'000);
  Scene scene(terms);
  scene.join(1);
  CHECK_FALSE(scene.claim(1));  // not called yet
  scene.pass(kTick);
  REQUIRE(scene.is_called(1));
  CHECK(scene.claim(1));
  CHECK(scene.claim(1));  // again: the same session
  CHECK(scene.counts().active == 1);
  CHECK(scene.counts().entered == 1);
  SUBCASE("disuse") {
    scene.pass(Milliseconds(81'000));
    CHECK(scene.counts().active == 0);
    CHECK(scene.counts().sessions_ended[static_cast<std::size_t>(Ended::idle)] == 1);
  }
  SUBCASE("something of it is open, though it asks for nothing more") {
    for (int n = 0; n < 9; ++n) {
      scene.pass(kRenewAfter);
      scene.room.stay(id_of(1), scene.now);
    }
    CHECK(scene.counts().active == 1);
    scene.pass(kRenewAfter + kTick);  // but not for ever
    CHECK(scene.counts().sessions_ended[static_cast<std::size_t>(Ended::too_long)] == 1);
    scene.room.stay(id_of(1), scene.now);
    CHECK(scene.counts().active == 0);
  }
  SUBCASE("age") {
    for (int n = 0; n < 4; ++n) {
      scene.pass(Milliseconds(49'000));
      CHECK(scene.stays(1));
    }
    CHECK(scene.counts().active == 1);
    scene.pass(Milliseconds(5000));
    CHECK(scene.counts().sessions_ended[static_cast<std::size_t>(Ended::too_long)] == 1);
  }
}

TEST_CASE(
    "who is called and does not come goes back to its own place, and ends after its attempts") {
  Terms terms = terms_for(1, When::always);
  terms.claim = Milliseconds(20'000);
  terms.attempts = 2;
  Scene scene(terms);
  scene.join(1);
  scene.join(2);
  scene.pass(kTick);
  REQUIRE(scene.is_called(1));
  for (int n = 0; n < 5; ++n) {
    scene.pass(Milliseconds(5000));
    scene.hear(2);
  }
  CHECK(scene.counts().called >= 2);
  const auto back = scene.hear(1);
  REQUIRE(back);
  CHECK(back->ahead == 0);
  scene.pass(Milliseconds(30'000));
  CHECK(ended(scene.counts(), Ended::not_claimed) >= 1);
  CHECK_FALSE(scene.hear(1));
}

TEST_CASE("who is silent keeps its place and is not called before it is back") {
  Scene scene(terms_for(1, When::always));
  scene.join(1);
  scene.pass(kTick);
  REQUIRE(scene.claim(1));
  scene.join(2);
  scene.join(3);
  for (int n = 0; n < 12; ++n) {  // 2 sleeps for four minutes
    scene.pass(Milliseconds(20'000));
    scene.hear(3);
    scene.stays(1);
  }
  CHECK(scene.counts().present == 1);
  CHECK(scene.hear(3)->ahead == 1);
  scene.room.cancel(id_of(1), scene.now);
  scene.pass(kTick);
  CHECK(scene.is_called(3));
  CHECK(scene.hear(2)->ahead == 0);
  scene.pass(Milliseconds(400'000));
  CHECK(ended(scene.counts(), Ended::abandoned) >= 1);
  CHECK_FALSE(scene.hear(2));
}

TEST_CASE("an obedient program is present from one Retry-After to the next") {
  Terms terms = terms_for(1, When::always);
  terms.shortest_poll = terms.longest_poll = Milliseconds(30'000);
  Scene scene(terms);
  scene.join(1);
  scene.pass(kTick);
  REQUIRE(scene.claim(1));
  scene.join(2);
  for (int n = 0; n < 20; ++n) {
    scene.pass(Milliseconds(44'000));  // half as long again
    CHECK(scene.counts().present == 1);
    scene.hear(2);
    scene.stays(1);
  }
}

TEST_CASE("who came and found no room goes first") {
  Scene scene(terms_for(2, When::always));
  for (std::uint64_t n = 1; n <= 4; ++n) scene.join(n);
  scene.pass(Milliseconds(2000));
  REQUIRE(scene.claim(1));
  REQUIRE(scene.claim(2));
  // More were called than there was room for: both came.
  Terms one = terms_for(1, When::always);
  scene.room.set_terms(one, scene.now);
  scene.room.cancel(id_of(1), scene.now);
  scene.pass(kTick);
  if (scene.is_called(3)) CHECK_FALSE(scene.claim(3));
  scene.room.cancel(id_of(2), scene.now);
  scene.pass(Milliseconds(1000));
  REQUIRE(scene.is_called(3));
  CHECK(scene.claim(3));
  CHECK_FALSE(scene.claim(4));
}

TEST_CASE("a cookieless flood stores nothing, and visitors get in beside it") {
  Scene scene(terms_for(50));
  for (int second = 0; second < 60; ++second) {
    for (int n = 0; n < 5000; ++n) scene.room.arrive(scene.now);
    scene.pass(Milliseconds(1000));
  }
  CHECK(scene.counts().joined == 0);
  CHECK(scene.counts().active == 0);
  CHECK(scene.counts().provisional <= 50);
  CHECK(scene.join(1).door == Door::wait);
  bool is_in = false;
  for (int second = 0; second < 70 && !is_in; ++second) {
    for (int n = 0; n < 5000; ++n) scene.room.arrive(scene.now);
    scene.pass(Milliseconds(1000));
    is_in = scene.claim(1);
  }
  CHECK(is_in);
}

TEST_CASE("no place is given that is not reached within max_wait") {
  Terms terms = terms_for(100, When::always);
  terms.per_minute = 60;
  terms.max_wait = Milliseconds(10'000);
  Scene scene(terms);
  std::size_t joined = 0;
  for (std::uint64_t n = 0; n < 100; ++n) joined += scene.join(n).view ? 1 : 0;
  CHECK(joined == 10);
  CHECK(scene.counts().refused == 90);
  CHECK(scene.room.arrive(scene.now) == Door::full);
}

TEST_CASE("overloaded opens the waiting room for a minute at least, and until it is calm") {
  Scene scene(terms_for(10, When::overloaded));
  CHECK(scene.room.arrive(scene.now) == Door::enter);
  scene.pass(kTick, {.is_overloaded = true, .pace = 0});
  CHECK(scene.room.arrive(scene.now) == Door::wait);
  REQUIRE(scene.join(1).view);
  scene.pass(Milliseconds(1000), {.is_overloaded = true, .pace = 0});
  CHECK_FALSE(scene.is_called(1));
  scene.pass(kTick);
  CHECK(scene.claim(1));
  scene.pass(Milliseconds(60'000));
  CHECK(scene.counts().entry.is_open);
  scene.pass(Milliseconds(61'000));
  CHECK_FALSE(scene.counts().entry.is_open);
}

TEST_CASE("a reload keeps places, and throws nobody out") {
  Scene scene(terms_for(3, When::always));
  for (std::uint64_t n = 1; n <= 5; ++n) scene.join(n);
  scene.pass(Milliseconds(1000));
  for (std::uint64_t n = 1; n <= 3; ++n) REQUIRE(scene.claim(n));
  scene.room.set_terms(terms_for(1, When::always), scene.now);
  scene.pass(Milliseconds(1000));
  CHECK(scene.counts().active == 3);
  CHECK(scene.hear(5)->ahead >= 1);
  for (std::uint64_t n = 1; n <= 2; ++n) scene.room.cancel(id_of(n), scene.now);
  scene.pass(Milliseconds(1000));
  CHECK_FALSE(scene.claim(4));
}

TEST_CASE("a pass that is used beside its successor is found; tabs are not") {
  Scene scene(terms_for(1, When::always));
  scene.join(1);
  scene.pass(kTick);
  REQUIRE(scene.claim(1));
  std::uint32_t generation = 1;
  Time issued = scene.now;
  bool is_found = false;
  SUBCASE("a copy") {
    for (int second = 0; second < 90 && !is_found; ++second) {
      scene.pass(Milliseconds(1000));
      if (scene.now - issued >= kRenewAfter) {
        const Renewal renewal = scene.room.use(id_of(1), generation, issued, scene.now);
        if (renewal.use == Use::renewed) {
          generation = renewal.generation;
          issued = scene.now;
        }
        is_found = renewal.use == Use::copied;
      }
      if (second >= 20 && !is_found)  // the copy keeps the first pass
        is_found = scene.room.use(id_of(1), 1, kStart, scene.now).use == Use::copied;
    }
    CHECK(is_found);
    CHECK(scene.counts().active == 0);
  }
  SUBCASE("five tabs with one cookie jar") {
    for (int second = 0; second < 600; ++second) {
      scene.pass(Milliseconds(1000));
      const std::uint32_t sent = generation;
      const Time sent_issued = issued;
      for (int tab = 0; tab < 5; ++tab) {
        const Renewal renewal = scene.room.use(id_of(1), sent, sent_issued, scene.now);
        REQUIRE(renewal.use != Use::copied);
        REQUIRE(renewal.use != Use::over);
        if (renewal.use == Use::renewed) {
          generation = renewal.generation;
          issued = scene.now;
        }
      }
    }
    CHECK(scene.counts().active == 1);
  }
}

}  // namespace spillway::waiting
