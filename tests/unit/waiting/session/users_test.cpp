// Verified users: as many tickets and sessions as they may have, and what is kept of whose they
// are.
#include "waiting/session/users.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "unit/waiting/crowd.hpp"
#include "waiting/room/waiting_room.hpp"

namespace spillway::waiting {
namespace {

using Door = WaitingRoom::Door;

UserKey user(std::uint8_t number) { return {{number, 1, 2, 3}}; }
const UserKey kAnn = user(1);
const UserKey kBob = user(2);

Terms terms_of(std::uint32_t per_user, std::uint32_t sessions = 1) {
  Terms terms = terms_for(sessions, When::always);
  terms.per_user = per_user;
  return terms;
}

// A room in which nobody is inside unless it claims.
struct Hall {
  explicit Hall(const Terms& terms = terms_of(1)) : room(terms) {}

  Door join(std::uint64_t number, const UserKey& who = {}) {
    now += Milliseconds(1);
    return room.join(id_of(number), now, now, 0, who).door;
  }
  void pass(Milliseconds time) {
    for (const Time until = now + time; now < until;) room.tick(now += kTick, kHealthy);
  }
  bool enter(std::uint64_t number) {
    pass(kTick);
    return room.claim(id_of(number), now).has_value();
  }
  std::vector<TicketId> held(const UserKey& who) const {
    std::vector<TicketId> ids;
    for (const WaitingRoom::Report& each : room.list_user(who, 100, now)) ids.push_back(each.id);
    return ids;
  }
  // What is written down, read by a new process.
  WaitingRoom restarted() {
    Written written{now, {}};
    for (WaitingRoom::Listing at; room.list(at, written.places);) {
    }
    WaitingRoom next(room.terms());
    next.restore(written, now);
    return next;
  }

  WaitingRoom room;
  Time now = kStart;
};

}  // namespace

TEST_CASE("users hold what they were given and have not lost, the newest first") {
  Users users;
  std::map<std::uint64_t, std::uint8_t> owners;  // a slow model: by ticket
  Random random(7);
  for (int n = 0; n < 20'000; ++n) {
    const std::uint64_t ticket = random.next() % 500;
    const auto owner = static_cast<std::uint8_t>(random.next() % 40);
    if (random.uniform() < 0.55) {
      users.hold(owner == 0 ? UserKey{} : user(owner), id_of(ticket));
      if (owner != 0) owners.emplace(ticket, owner);
    } else {
      users.release(id_of(ticket));
      owners.erase(ticket);
    }
    const auto count =
        std::ranges::count_if(owners, [owner](const auto& each) { return each.second == owner; });
    const auto held = users.list(user(owner), 1000);
    REQUIRE(users.count(user(owner)) == (owner == 0 ? 0u : static_cast<std::size_t>(count)));
    REQUIRE(held.size() == users.count(user(owner)));
    for (const TicketId& id : held) REQUIRE(users.of(id) == user(owner));
  }
  CHECK(users.of(id_of(1000)).is_nobody());
  Users two;
  for (std::uint64_t n = 1; n <= 3; ++n) two.hold(kAnn, id_of(n));
  two.release(id_of(2));
  CHECK(two.list(kAnn, 9) == std::vector<TicketId>{id_of(3), id_of(1)});
  CHECK(two.list(kAnn, 1) == std::vector<TicketId>{id_of(3)});
}

TEST_CASE("a verified user gets one ticket, and nobody else is bounded by that") {
  Hall hall;
  CHECK(hall.join(1, kAnn) == Door::wait);
  CHECK(hall.join(2, kAnn) == Door::taken);
  CHECK(hall.room.held_by(kAnn) == id_of(1));
  CHECK(hall.room.arrive(hall.now, 0, kAnn) == Door::taken);
  CHECK(hall.room.ask_for_ticket(hall.now, 0, kAnn) == Door::taken);
  CHECK(hall.join(1, kAnn) == Door::wait);  // another tab
  CHECK(hall.join(3, kBob) == Door::wait);
  CHECK(hall.join(4) == Door::wait);
  CHECK(hall.join(5) == Door::wait);
  const Counts counts = hall.room.counts(hall.now);
  CHECK(counts.joined == 4);
  CHECK(counts.refused_users == 3);
  CHECK(counts.refused == 0);
}

TEST_CASE("as many as the terms say, without a limit if they say none, and as a reload says") {
  Hall two(terms_of(2));
  CHECK(two.join(1, kAnn) == Door::wait);
  CHECK(two.join(2, kAnn) == Door::wait);
  CHECK(two.join(3, kAnn) == Door::taken);
  two.room.set_terms(terms_of(0), two.now);
  for (std::uint64_t n = 3; n <= 9; ++n) CHECK(two.join(n, kAnn) == Door::wait);
  CHECK(two.held(kAnn).size() == 9);
  two.room.set_terms(terms_of(1), two.now);
  CHECK(two.join(10, kAnn) == Door::taken);
  CHECK(two.room.counts(two.now).waiting == 9);  // nobody is thrown out
}

TEST_CASE("a session counts as a ticket does, and what has ended does not") {
  Hall hall;
  hall.join(1, kAnn);
  REQUIRE(hall.enter(1));
  CHECK(hall.join(2, kAnn) == Door::taken);
  CHECK(hall.room.inspect(*hall.room.held_by(kAnn), hall.now)->view.state ==
        TicketState::fulfilled);
  SUBCASE("it leaves") { REQUIRE(hall.room.cancel(id_of(1), hall.now)); }
  SUBCASE("its session ends by time") { hall.pass(hall.room.terms().idle + Milliseconds(30'000)); }
  CHECK_FALSE(hall.room.held_by(kAnn));
  CHECK(hall.join(2, kAnn) == Door::wait);
  hall.pass(hall.room.terms().abandon * 2 + hall.room.terms().claim * 3);
  CHECK(hall.held(kAnn).empty());  // nor a ticket that was abandoned
}

TEST_CASE("while nobody has to wait nobody is refused, and a program that asks for a ticket is") {
  Terms terms = terms_of(1, 10);
  terms.when = When::full;
  Hall hall(terms);
  CHECK(hall.room.arrive(hall.now, 0, kAnn) == Door::enter);
  const Time issued = hall.now;
  CHECK(hall.room.use(id_of(1), 0, issued, hall.now, kAnn).use == Use::renewed);
  CHECK(hall.held(kAnn) == std::vector<TicketId>{id_of(1)});
  CHECK(hall.room.arrive(hall.now, 0, kAnn) == Door::enter);
  CHECK(hall.join(2, kAnn) == Door::enter);
  CHECK(hall.held(kAnn).size() == 2);
  CHECK(hall.room.ask_for_ticket(hall.now, 0, kAnn) == Door::taken);
  CHECK(hall.room.ask_for_ticket(hall.now, 0, kBob) == Door::wait);
}

TEST_CASE("whose places they are survives a restart, by what was written and by the token") {
  Hall hall(terms_of(1, 2));
  hall.join(1, kAnn);
  hall.join(2, kBob);
  REQUIRE(hall.enter(1));
  std::vector<Place> places;
  hall.room.look_up(std::vector<TicketId>{id_of(1), id_of(2), id_of(3)}, hall.now, places);
  CHECK(places[0].user == kAnn);
  CHECK(places[1].user == kBob);
  CHECK(places[2].user.is_nobody());
  WaitingRoom next = hall.restarted();
  for (const std::uint8_t who : {1, 2}) {
    CHECK(next.held_by(user(who)) == id_of(who));
    CHECK(next.join(id_of(10), hall.now, hall.now, 0, user(who)).door == Door::taken);
  }
  // Of the last moments before a kill there is only the visitor's token.
  const UserKey cem = user(3);
  next.recover(id_of(4), hall.now - Milliseconds(1), hall.now, 0, cem);
  CHECK(next.held_by(cem) == id_of(4));
  CHECK(next.join(id_of(11), hall.now, hall.now, 0, cem).door == Door::taken);
}

TEST_CASE("once the operator has ended the room a user holds nothing") {
  Hall hall;
  hall.join(1, kAnn);
  hall.room.end_room(true);
  CHECK(hall.held(kAnn).empty());
  CHECK(hall.join(2, kAnn) == Door::ended);
  hall.pass(kTick);
  hall.room.end_room(false);
  CHECK(hall.join(2, kAnn) == Door::wait);
}

}  // namespace spillway::waiting
