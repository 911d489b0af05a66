// "Leave and be called": a reservation is kept, called while its visitor is away, and holds no
// session.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "hall.hpp"

namespace spillway::waiting {
namespace {

constexpr UserKey kAnn{{1, 2, 3}};

std::uint64_t ended(const WaitingRoom& room, Ended why, Time now) {
  return room.counts(now).tickets_ended[static_cast<std::size_t>(why)];
}

using Door = WaitingRoom::Door;
using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a visitor that reserves and goes is called, and comes in within the longer time") {
  for (const bool has_reserved : {true, false}) {
    CAPTURE(has_reserved);
    Hall hall;
    hall.fill();
    hall.told();
    hall.join(2);
    if (has_reserved) CHECK(hall.reserve(2));
    hall.pass(30 * kMinute);
    REQUIRE(hall.view(2).has_value() == has_reserved);  // the control: it has lost its place
    if (!has_reserved) continue;
    CHECK(hall.view(2)->is_reserved);
    CHECK(hall.room.counts(hall.now).present == 1);
    hall.leave(1);
    hall.pass(Milliseconds(2'000));
    REQUIRE(hall.is_called(2));
    CHECK(hall.told() == Lines{"joined", "reserved reserved of \"ann\"", "called reserved for 15"});
    hall.pass(14 * kMinute);
    CHECK(hall.enter(2));
    CHECK(hall.told() == Lines{"fulfilled reserved"});
    CHECK(hall.room.counts(hall.now).called == 2);
  }
}

TEST_CASE("no session is kept free for a visitor that is away, and it goes first when it comes") {
  Hall hall;
  hall.fill();
  hall.join(2);
  REQUIRE(hall.reserve(2));
  hall.pass(kMinute);
  hall.join(3);
  hall.at_page = {3};
  hall.pass(Milliseconds(5'000));
  hall.leave(1);
  hall.pass(Milliseconds(2'500));
  CHECK(hall.is_called(2));
  REQUIRE(hall.is_called(3));
  REQUIRE(hall.enter(3));
  hall.join(4);
  hall.at_page = {4};
  hall.pass(5 * kMinute);
  CHECK_FALSE(hall.enter(2));  // it comes, and waits at the door
  hall.at_page = {2, 4};
  hall.pass(Milliseconds(10'000));
  CHECK(hall.is_called(2));
  hall.leave(3);
  CHECK_FALSE(hall.enter(4));
  CHECK(hall.enter(2));
}

TEST_CASE("a ghost that reserved is called as often as any other, and its place then ends") {
  Hall hall;
  hall.fill();
  hall.told();
  hall.join(2);
  REQUIRE(hall.reserve(2));
  hall.pass(kMinute);
  hall.leave(1);
  hall.pass(46 * kMinute);
  CHECK_FALSE(hall.view(2));
  CHECK(ended(hall.room, Ended::not_claimed, hall.now) == 1);
  CHECK(hall.told() == Lines{"joined", "reserved reserved of \"ann\"", "called reserved for 15",
                             "called reserved for 15", "called reserved for 15",
                             "expired reserved as not_claimed"});
}

TEST_CASE("a reservation that is not called in time is abandoned, and asking prolongs it") {
  for (const bool asks : {false, true}) {
    CAPTURE(asks);
    Hall hall;
    hall.fill();
    hall.join(2);
    REQUIRE(hall.reserve(2));
    hall.pass(50 * kMinute);
    if (asks) hall.room.hear(id_of(2), hall.now);
    hall.pass(11 * kMinute);
    CHECK(hall.view(2).has_value() == asks);
    CHECK(ended(hall.room, Ended::abandoned, hall.now) == (asks ? 0 : 1));
  }
}

TEST_CASE("who may reserve: a verified user that waits, and others if it is configured so") {
  Terms terms = with_reservations();
  terms.reserve.anonymous = false;
  Hall hall(terms);
  hall.fill();
  hall.join(2);
  hall.join(3, kAnn);
  CHECK_FALSE(hall.view(2)->may_reserve);
  CHECK_FALSE(hall.reserve(2));
  CHECK(hall.view(3)->may_reserve);
  CHECK(hall.reserve(3));
  CHECK_FALSE(hall.view(3)->may_reserve);
  const auto again = hall.room.reserve(id_of(3), hall.now);
  REQUIRE(again);
  CHECK_FALSE(again->is_granted);
  CHECK(again->view.is_reserved);
  CHECK_FALSE(hall.room.reserve(id_of(9), hall.now));
  hall.room.set_terms(terms_for(1, When::always), hall.now);
  CHECK_FALSE(hall.view(3)->is_reserved);
  CHECK_FALSE(hall.reserve(3));
}

TEST_CASE("the user of a reservation is told once by each process that is asked") {
  Hall hall;
  hall.fill();
  hall.told();
  hall.join(2);
  REQUIRE(hall.room.reserve(id_of(2), hall.now)->is_granted);  // anonymous
  CHECK_FALSE(hall.reserve(2));
  CHECK_FALSE(hall.reserve(2));
  CHECK(hall.told() == Lines{"joined", "reserved reserved", "reserved reserved of \"ann\""});
}

TEST_CASE("a visitor that is called may not reserve: its call goes on") {
  Hall hall;
  hall.join(2);
  hall.pass(kTick);
  REQUIRE(hall.is_called(2));
  const auto refused = hall.room.reserve(id_of(2), hall.now);
  REQUIRE(refused);
  CHECK_FALSE(refused->is_granted);
  CHECK_FALSE(refused->view.is_reserved);
}

TEST_CASE("a reserved visitor that stays at its page is called as those who stay are") {
  Hall hall;
  hall.fill();
  hall.join(2);
  REQUIRE(hall.reserve(2));
  hall.join(3);
  hall.at_page = {2, 3};
  hall.pass(kMinute);
  hall.leave(1);
  hall.pass(Milliseconds(2'000));
  CHECK(hall.is_called(2));
  CHECK_FALSE(hall.is_called(3));  // 2 is expected
  CHECK(hall.enter(2));
}

TEST_CASE("only some of those who are away are called at a time, by their order") {
  Terms terms = with_reservations(2);
  terms.max_wait = Milliseconds(86'400'000);
  terms.per_minute = 4;  // so 30 within the longer time, of which half may be such
  terms.reserve.claim = 15 * kMinute;
  Hall hall(terms);
  for (const std::uint64_t n : {1, 2}) {
    hall.join(n);
    hall.pass(Milliseconds(1'000));
    REQUIRE(hall.enter(n));
  }
  for (std::uint64_t n = 100; n < 200; ++n) {
    hall.join(n);
    REQUIRE(hall.reserve(n));
  }
  hall.join(200);
  hall.at_page = {200};
  hall.pass(2 * kMinute);
  hall.leave(1);
  hall.pass(3 * kMinute);
  std::size_t called = 0;
  while (hall.is_called(100 + called)) ++called;
  MESSAGE("called while away: " << called);
  CHECK(called >= 1);
  CHECK(called <= 30);
  for (std::uint64_t n = 100 + called; n < 200; ++n) CHECK_FALSE(hall.is_called(n));
  REQUIRE(hall.is_called(200));  // who is there is not held up
  REQUIRE(hall.enter(200));
  // One of them comes in: the next one in order is called.
  hall.leave(2);
  REQUIRE(hall.enter(100));
  CHECK_FALSE(hall.is_called(100 + called));
  hall.leave(200);
  hall.pass(kMinute);
  CHECK(hall.is_called(100 + called));
  CHECK_FALSE(hall.is_called(199));
  CHECK(hall.view(199));
}

TEST_CASE("visitors do not wait where those who are away alone are called") {
  Terms terms = with_reservations();
  terms.when = When::full;
  Hall hall(terms);
  REQUIRE(hall.room.arrive(hall.now) == Door::enter);
  REQUIRE(hall.room.use(id_of(1), 0, hall.now, hall.now).use == Use::renewed);
  hall.inside = {1};
  hall.join(2);
  REQUIRE(hall.reserve(2));
  hall.pass(kMinute);
  CHECK(hall.room.has_to_wait(hall.now));  // one that is inside, and one that is not called yet
  hall.leave(1);
  hall.pass(kMinute);
  REQUIRE(hall.is_called(2));
  CHECK_FALSE(hall.room.has_to_wait(hall.now));
  CHECK(hall.room.join(id_of(3), hall.now, hall.now).door == Door::enter);
}

TEST_CASE("a reload without reservations gives those who are away time to come back") {
  Hall hall;
  hall.fill();
  hall.join(2);
  REQUIRE(hall.reserve(2));
  hall.pass(30 * kMinute);
  hall.room.set_terms(terms_for(1, When::always), hall.now);
  REQUIRE(hall.view(2));
  CHECK_FALSE(hall.view(2)->is_reserved);
  hall.pass(4 * kMinute);
  CHECK(hall.view(2));
  hall.pass(2 * kMinute);
  CHECK_FALSE(hall.view(2));
}

TEST_CASE("a reservation survives the process, and is called by the next one") {
  for (const bool was_written : {true, false}) {
    CAPTURE(was_written);
    Hall hall;
    hall.fill();
    hall.room.keep_journal();
    hall.join(2);
    Written written{hall.now, {}};
    if (was_written) {
      hall.room.take_changed();
      REQUIRE(hall.reserve(2));
      const auto changed = hall.room.take_changed();
      REQUIRE(changed);
      CHECK(*changed == std::vector<TicketId>{id_of(2)});
    }
    for (WaitingRoom::Listing at; hall.room.list(at, written.places);) {
    }
    Hall next;
    next.now = hall.now;
    next.room.restore(written, next.now);
    next.inside = {1};
    next.pass(30 * kMinute);
    REQUIRE(next.view(2).has_value() == was_written);  // the control: it was no reservation
    if (!was_written) continue;
    next.leave(1);
    next.pass(Milliseconds(2'000));
    CHECK(next.is_called(2));
    CHECK(next.enter(2));
  }
}

TEST_CASE("a reservation that was made at a proxy that was cut off is one for the others, too") {
  Hall hall;
  hall.fill();
  hall.join(2);
  hall.join(3);
  std::vector<Place> places;
  hall.room.look_up(std::vector<TicketId>{id_of(2), id_of(3)}, hall.now, places);
  places[0].is_reserved = true;
  hall.room.bring_back(places, hall.now);
  CHECK(hall.view(2)->is_reserved);
  CHECK_FALSE(hall.view(3)->is_reserved);
  Hall empty;
  empty.now = hall.now;
  empty.room.bring_back(places, empty.now);
  CHECK(empty.view(2)->is_reserved);
  CHECK_FALSE(empty.view(3)->is_reserved);
}

TEST_CASE("so is one of a verified user where no other visitor may go") {
  Terms terms = with_reservations();
  terms.reserve.anonymous = false;
  Hall hall(terms);
  hall.fill();
  Place place{.id = id_of(2), .kind = Place::Kind::ticket, .since = hall.now};
  place.is_reserved = true;
  Place anonymous = place;
  anonymous.id = id_of(3);
  place.user = kAnn;
  hall.room.bring_back(std::vector<Place>{place, anonymous}, hall.now);
  CHECK(hall.view(2)->is_reserved);
  CHECK_FALSE(hall.view(3)->is_reserved);
}

TEST_CASE("who has missed calls is called again after those who have missed fewer") {
  Terms terms = with_reservations();
  terms.reserve.keep = 240 * kMinute;
  terms.expected_stay = 15 * kMinute;  // so one is called at a time
  terms.max_wait = 600 * kMinute;
  Hall hall(terms);
  hall.fill();
  for (std::uint64_t n = 2; n <= 5; ++n) {
    hall.join(n);
    REQUIRE(hall.reserve(n));
  }
  hall.leave(1);
  hall.pass(40 * kMinute);  // each has a quarter of an hour
  CHECK(hall.is_called(5));
  CHECK(hall.enter(5));
}

TEST_CASE("a reservation is one still when its visitor came in to a failure") {
  for (const bool has_reserved : {true, false}) {
    CAPTURE(has_reserved);
    Hall hall;
    hall.fill();
    hall.join(2);
    if (has_reserved) REQUIRE(hall.reserve(2));
    hall.at_page = {2};
    hall.leave(1);
    hall.pass(Milliseconds(5'000));
    REQUIRE(hall.enter(2));
    REQUIRE(hall.room.go_back(id_of(2), hall.now));
    hall.inside.clear();
    CHECK(hall.view(2)->is_reserved == has_reserved);
    hall.pass(20 * kMinute);
    REQUIRE(hall.view(2).has_value() == has_reserved);  // the control: it is given up
    if (has_reserved) CHECK(hall.enter(2));
  }
}

TEST_CASE("a pause takes back the call of who is away, which is called again after it") {
  Hall hall;
  hall.fill();
  hall.join(2);
  REQUIRE(hall.reserve(2));
  hall.pass(kMinute);
  hall.leave(1);
  hall.pass(Milliseconds(2'000));
  REQUIRE(hall.is_called(2));
  hall.room.pause(true);
  CHECK_FALSE(hall.enter(2));  // it comes, and is told of the pause
  hall.pass(kMinute);
  CHECK_FALSE(hall.is_called(2));
  hall.room.pause(false);
  hall.pass(Milliseconds(2'000));
  CHECK(hall.is_called(2));
  CHECK(hall.room.inspect(id_of(2), hall.now)->missed == 0);
}

}  // namespace spillway::waiting
