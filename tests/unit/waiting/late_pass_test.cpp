// A visitor that was let in without a wait, and shows its first pass only when its entry does not
// count any more: it is not thrown out, no place is given twice, and the cap holds.
#include <doctest/doctest.h>

#include <vector>

#include "crowd.hpp"

namespace spillway::waiting {
namespace {

using Door = WaitingRoom::Door;

struct FirstPass {
  std::uint64_t number = 0;
  Time issued{};
};

// A waiting room with its clock, in which no more than the cap are ever inside.
struct Doorway {
  explicit Doorway(const Terms& terms) : room(terms) {}

  void pass(Milliseconds time) {
    for (const Time until = now + time; now < until;) {
      room.tick(now += kTick, kHealthy);
      check_cap();
    }
  }
  void check_cap() const {
    const Counts counts = room.counts(now);
    REQUIRE(counts.active + counts.provisional <= room.terms().active_sessions);
  }
  FirstPass enter(std::uint64_t number) {
    REQUIRE(room.arrive(now) == Door::enter);
    return {number, now};
  }
  Use show(const FirstPass& entry, const LatePass& late = {}) {
    const TicketId id = id_of(entry.number);
    const bool has_none = !room.peek(id).has_value();
    const bool takes_ticket = room.takes_ticket(id, entry.issued, now);
    const Use use = room.use(id, 0, entry.issued, now, {}, late).use;
    const bool would = use == Use::waits || use == Use::late || use == Use::held;
    CHECK(takes_ticket == (has_none && would));
    check_cap();
    return use;
  }
  // Others take all places, and so many more wait.
  void fill(std::uint64_t first, std::uint64_t waiting) {
    while (room.arrive(now) == Door::enter) {
      inside.push_back(first);
      REQUIRE(show({first++, now}) == Use::renewed);
    }
    for (; waiting > 0; --waiting) REQUIRE(room.join(id_of(first++), now, now).view);
  }
  std::size_t ahead_of(std::uint64_t number) const { return room.peek(id_of(number))->ahead; }
  bool is_called(std::uint64_t number) {
    const auto view = room.hear(id_of(number), now);
    return view && view->state == TicketState::processing;
  }

  WaitingRoom room;
  Time now = kStart;
  std::vector<std::uint64_t> inside;  // of fill()
};

constexpr Milliseconds kOverASlice{61'100};

}  // namespace

TEST_CASE("a first pass that is shown late stands before all who had to wait, and is called next") {
  Doorway door(terms_for(2));
  const FirstPass late = door.enter(1);
  door.pass(kOverASlice);
  door.fill(10, 5);
  CHECK(door.show(late) == Use::waits);
  CHECK(door.ahead_of(1) == 0);
  CHECK(door.ahead_of(12) == 1);
  CHECK(door.room.peek(id_of(1))->joined == late.issued);
  CHECK(door.show(late) == Use::waits);  // it asks again
  CHECK(door.room.counts(door.now).waiting == 6);
  REQUIRE(door.room.cancel(id_of(door.inside.front()), door.now));
  door.pass(kTick);
  CHECK(door.is_called(1));
  CHECK_FALSE(door.is_called(12));
  // With the pass that it has, as a form does that is sent once more.
  CHECK(door.show(late) == Use::renewed);
  CHECK(door.room.has_session(id_of(1)));
  CHECK(door.room.counts(door.now).active == 2);
}

TEST_CASE("a first pass that is shown late goes in at once where a place is free") {
  Doorway door(terms_for(2));
  const FirstPass late = door.enter(1);
  door.pass(kOverASlice);
  SUBCASE("though all have to wait") { door.room.hold_open(true); }
  SUBCASE("though no visitor is called") { door.room.pause(true); }
  SUBCASE("though another visitor is called") {
    door.fill(10, 2);
    REQUIRE(door.room.cancel(id_of(10), door.now));
    door.pass(kTick);
    REQUIRE(door.is_called(12));
  }
  SUBCASE("though the room has ended for others") { door.room.end_room(true); }
  REQUIRE(door.room.has_to_wait(door.now));
  CHECK(door.show(late) == Use::renewed);
  CHECK(door.room.has_session(id_of(1)));
}

TEST_CASE("a visitor that was called and found no place goes before a late first pass") {
  Doorway door(terms_for(2));
  const FirstPass late = door.enter(1);
  const FirstPass second = door.enter(2);
  door.pass(kOverASlice);
  door.fill(10, 1);
  REQUIRE(door.room.cancel(id_of(10), door.now));
  door.pass(kTick);
  REQUIRE(door.is_called(12));
  REQUIRE(door.show(late) == Use::renewed);
  REQUIRE_FALSE(door.room.claim(id_of(12), door.now));  // at the door
  REQUIRE(door.room.cancel(id_of(11), door.now));
  CHECK(door.show(second) == Use::waits);
  CHECK(door.room.claim(id_of(12), door.now));
}

TEST_CASE("a first pass is good once, for as long as a session may be idle") {
  Terms terms = terms_for(1);
  terms.idle = Milliseconds(600'000);
  Doorway door(terms);
  const FirstPass late = door.enter(1);
  door.pass(kOverASlice);
  door.fill(10, 3);
  SUBCASE("its ticket was given up") {
    REQUIRE(door.show(late) == Use::waits);
    REQUIRE(door.room.cancel(id_of(1), door.now));
    CHECK(door.show(late) == Use::over);
    for (int n = 0; n < 5; ++n) {  // for longer than ends are told
      door.pass(Milliseconds(60'000));
      for (std::uint64_t other = 11; other < 14; ++other) door.room.hear(id_of(other), door.now);
      door.room.stay(id_of(10), door.now);
    }
    CHECK_FALSE(door.room.end_of(id_of(1), door.now));
    CHECK(door.show(late) == Use::over);
    CHECK_FALSE(door.room.peek(id_of(1)));
  }
  SUBCASE("its session was") {
    REQUIRE(door.show(late) == Use::waits);
    REQUIRE(door.room.cancel(id_of(10), door.now));
    door.pass(kTick);
    REQUIRE(door.show(late) == Use::renewed);
    REQUIRE(door.room.cancel(id_of(1), door.now));
    CHECK(door.show(late) == Use::over);
  }
  SUBCASE("it was idle") {
    door.pass(terms.idle - kOverASlice);
    CHECK(door.now - late.issued == terms.idle);
    door.pass(kTick);
    CHECK(door.show(late) == Use::over);
    CHECK_FALSE(door.room.peek(id_of(1)));
  }
}

TEST_CASE("copies of a first pass have one place among them") {
  Doorway door(terms_for(2));
  const FirstPass late = door.enter(1);
  door.pass(kOverASlice);
  door.fill(10, 2);
  for (int n = 0; n < 10; ++n) CHECK(door.show(late) == Use::waits);
  CHECK(door.room.counts(door.now).waiting == 3);
  REQUIRE(door.room.cancel(id_of(10), door.now));
  REQUIRE(door.room.cancel(id_of(11), door.now));
  door.pass(kTick);
  for (int n = 0; n < 10; ++n) CHECK(door.show(late) != Use::over);
  CHECK(door.room.counts(door.now).active == 1);
}

TEST_CASE("late first passes take no more than max_tickets and per_user allow") {
  Terms terms = terms_for(2);
  UserKey user;
  user.bytes[0] = 7;
  SUBCASE("max_tickets") { terms.max_tickets = 2; }
  SUBCASE("per_user") {}
  Doorway door(terms);
  const FirstPass one = door.enter(1);
  const FirstPass other = door.enter(2);
  door.pass(kOverASlice);
  door.fill(10, 1);
  const UserKey whose = terms.max_tickets == 2 ? UserKey{} : user;
  CHECK(door.room.use(id_of(1), 0, one.issued, door.now, whose).use == Use::waits);
  CHECK(door.room.use(id_of(2), 0, other.issued, door.now, whose).use == Use::over);
}

TEST_CASE("late first passes stand in the tiers that they were issued for, by their times") {
  Terms terms = terms_for(3);
  terms.tiers.count = 2;
  terms.tiers.list[0].priority = 3;
  terms.tiers.list[1].priority = 0;
  Doorway door(terms);
  const FirstPass first = door.enter(1);
  door.pass(Milliseconds(1000));
  const FirstPass second = door.enter(2);
  const FirstPass third = door.enter(3);
  door.pass(kOverASlice);
  door.fill(10, 1);  // 13 waits
  REQUIRE(door.room.join(id_of(20), door.now, door.now, 3).view);
  CHECK(door.show(second) == Use::waits);
  CHECK(door.show(first) == Use::waits);
  CHECK(door.show(third, {.priority = 3}) == Use::waits);
  const std::vector<std::uint64_t> order{3, 20, 1, 2, 13};
  for (std::size_t n = 0; n < order.size(); ++n) CHECK(door.ahead_of(order[n]) == n);
}

TEST_CASE("a late first pass whose visitor may not join makes no ticket, and stays good") {
  constexpr LatePass kMayNot{.priority = 0, .may_join = false};
  Doorway door(terms_for(2));
  const FirstPass late = door.enter(1);
  const FirstPass other = door.enter(2);
  door.pass(kOverASlice);
  door.fill(10, 2);
  CHECK(door.show(late, kMayNot) == Use::late);
  CHECK(door.show(late, kMayNot) == Use::late);
  CHECK(door.room.counts(door.now).waiting == 2);
  CHECK(door.show(other) == Use::waits);
  CHECK(door.show(other, kMayNot) == Use::waits);  // it has one
  SUBCASE("until it may") {
    door.pass(Milliseconds(1000));
    CHECK(door.show(late) == Use::waits);
    CHECK(door.ahead_of(1) == 0);
  }
  SUBCASE("until there is room") {
    REQUIRE(door.room.cancel(id_of(10), door.now));
    CHECK(door.show(late, kMayNot) == Use::renewed);
  }
}

TEST_CASE("control: a pass of a later generation whose session is over is a first contact") {
  Doorway door(terms_for(1));
  const FirstPass late = door.enter(1);
  door.pass(kOverASlice);
  door.fill(10, 1);
  CHECK(door.room.use(id_of(2), 1, late.issued, door.now).use == Use::over);
  CHECK(door.room.counts(door.now).waiting == 1);
}

TEST_CASE("after a restart a late first pass stands where it would have stood") {
  Doorway door(terms_for(1));
  const Time issued = kStart - kOverASlice;
  door.room.restore({.until = kStart - kTick, .places = {}}, kStart);
  door.fill(10, 2);
  CHECK(door.show({1, issued}) == Use::waits);
  CHECK(door.ahead_of(1) == 0);
}

TEST_CASE("while places cannot be written down a late first pass is kept, and gets no ticket") {
  Doorway doorway(terms_for(1));
  doorway.pass(kTick);
  const FirstPass entry = doorway.enter(1);
  doorway.pass(kOverASlice);
  doorway.fill(10, 1);
  doorway.room.tick(doorway.now += kTick, {.newcomers = Newcomers::held});
  CHECK(doorway.show(entry) == Use::held);
  CHECK(doorway.show(entry, {.priority = 0, .may_join = false}) == Use::held);
  doorway.pass(kTick);
  CHECK(doorway.show(entry) == Use::waits);
}

}  // namespace spillway::waiting
