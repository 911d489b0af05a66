// Reservations whose visitors are away: since a restart, when the operator calls, and in what
// others are told of their wait.
#include <doctest/doctest.h>

#include <variant>
#include <vector>

#include "hall.hpp"

namespace spillway::waiting {
namespace {

bool is_away(const Hall& hall, std::uint64_t number) {
  const auto report = hall.room.inspect(id_of(number), hall.now);
  return report && report->is_away;
}

// Visitor 1 is inside, 2 has reserved, 3 is at its page. What was before now.
enum class Gap : std::uint8_t { restart, silence, cut_off };

void begin_anew(Hall& hall, Gap gap) {
  if (gap == Gap::silence) return hall.room.pardon(hall.now);
  Written written{hall.now, {}};
  for (WaitingRoom::Listing at; hall.room.list(at, written.places);) {
  }
  hall.room = WaitingRoom(with_reservations());
  if (gap == Gap::cut_off) return hall.room.bring_back(written.places, hall.now);
  hall.room.restore(written, hall.now);
}

}  // namespace

TEST_CASE("a visitor that reserved is away once it has not been heard of for some polls") {
  Hall hall;
  hall.fill();
  hall.join(2);
  REQUIRE(hall.reserve(2));
  CHECK_FALSE(is_away(hall, 2));
  hall.pass(2 * kMinute);
  CHECK(is_away(hall, 2));
  hall.room.hear(id_of(2), hall.now);
  CHECK_FALSE(is_away(hall, 2));
  hall.at_page = {2};
  hall.pass(2 * kMinute);
  CHECK_FALSE(is_away(hall, 2));
  hall.leave(1);
  hall.pass(Milliseconds(2'000));
  REQUIRE(hall.is_called(2));
  CHECK_FALSE(is_away(hall, 2));
}

TEST_CASE("after a restart nobody who reserved is expected at its page, and none loses its place") {
  for (const Gap gap : {Gap::restart, Gap::silence}) {
    CAPTURE(static_cast<int>(gap));
    Hall hall;
    hall.fill();
    hall.join(2);
    REQUIRE(hall.reserve(2));
    hall.join(3);
    begin_anew(hall, gap);
    hall.at_page = {3};
    hall.pass(Milliseconds(5'000));
    CHECK(is_away(hall, 2));
    CHECK_FALSE(is_away(hall, 3));
    hall.leave(1);
    hall.pass(Milliseconds(3'000));
    CHECK(hall.is_called(2));
    CHECK(hall.is_called(3));  // no session is kept free for 2
    REQUIRE(hall.enter(3));
    CHECK_FALSE(hall.enter(2));
    hall.leave(3);
    CHECK(hall.enter(2));
  }
}

TEST_CASE("after a restart a visitor at its page is called at once behind fifty that are away") {
  for (const Gap gap : {Gap::restart, Gap::silence, Gap::cut_off}) {
    CAPTURE(static_cast<int>(gap));
    Terms terms = with_reservations();
    terms.max_wait = 600 * kMinute;
    Hall hall(terms);
    hall.fill();
    for (std::uint64_t n = 2; n <= 51; ++n) {
      hall.join(n);
      REQUIRE(hall.reserve(n));
    }
    hall.join(52);
    begin_anew(hall, gap);
    hall.room.hear(id_of(52), hall.now);
    CHECK(hall.room.counts(hall.now).active == 1);
    hall.pass(Milliseconds(1'000));
    REQUIRE(is_away(hall, 51));
    hall.leave(1);
    hall.pass(kTick);
    CHECK(hall.is_called(52));
    CHECK(hall.is_called(2));
  }
}

TEST_CASE("the call of a reservation begins anew after an outage, and does not hold up others") {
  Hall hall;
  hall.fill();
  hall.join(2);
  REQUIRE(hall.reserve(2));
  hall.join(3);
  hall.at_page = {2, 3};
  hall.pass(kMinute);
  hall.leave(1);
  hall.pass(Milliseconds(1'000));
  REQUIRE(hall.is_called(2));
  REQUIRE_FALSE(hall.is_called(3));  // 2 is expected
  hall.at_page.clear();
  hall.now += 14 * kMinute;
  hall.room.pardon(hall.now);
  CHECK(is_away(hall, 2));
  CHECK(hall.view(2)->claim_until == hall.now + 15 * kMinute);
  hall.at_page = {3};
  hall.pass(Milliseconds(6'000));
  CHECK(hall.is_called(3));
  hall.pass(14 * kMinute);
  CHECK(hall.is_called(2));
}

TEST_CASE("an order to call passes over no reservation") {
  Hall hall;
  hall.fill();
  hall.room.pause(true);
  for (const std::uint64_t n : {2, 3}) {
    hall.join(n);
    REQUIRE(hall.reserve(n));
  }
  hall.join(4);
  hall.at_page = {4};
  hall.pass(2 * kMinute);
  REQUIRE(is_away(hall, 2));
  const auto present = [&] { return hall.room.counts(hall.now).present; };
  REQUIRE(present() == 3);
  CHECK(std::get<NotCalled>(hall.room.call_next(hall.now)) == NotCalled::no_room);
  CHECK(present() == 3);
  hall.leave(1);
  CHECK(std::get<TicketId>(hall.room.call_next(hall.now)) == id_of(4));
  CHECK(present() == 2);
}

TEST_CASE(
    "the operator calls tickets whose visitors are at their pages, and an absent one by name") {
  Hall hall(with_reservations(2));
  hall.room.pause(true);
  for (const std::uint64_t n : {2, 3}) {
    hall.join(n);
    REQUIRE(hall.reserve(n));
  }
  hall.join(4);
  hall.at_page = {4};
  hall.pass(2 * kMinute);
  REQUIRE(is_away(hall, 2));
  const auto next = [&] { return hall.room.call_next(hall.now); };
  const auto one = [&](std::uint64_t n) { return hall.room.call_one(id_of(n), hall.now); };
  CHECK(std::get<TicketId>(next()) == id_of(4));
  CHECK(std::get<NotCalled>(next()) == NotCalled::all_away);
  CHECK(std::get<NotCalled>(one(9)) == NotCalled::unknown);
  CHECK(std::get<NotCalled>(one(4)) == NotCalled::called);
  CHECK(std::get<TicketId>(one(3)) == id_of(3));
  CHECK(is_away(hall, 3));
  CHECK(hall.is_called(3));
  CHECK_FALSE(hall.is_called(2));
  REQUIRE(hall.enter(3));
  REQUIRE(hall.enter(4));
  CHECK(std::get<NotCalled>(one(2)) == NotCalled::no_room);
  // Its place is the first one still, and its turn comes as before.
  hall.leave(3);
  hall.room.pause(false);
  hall.pass(Milliseconds(2'000));
  CHECK(hall.is_called(2));
  CHECK(hall.enter(2));
}

TEST_CASE("a reservation that was passed over is called by its ticket, out of its turn") {
  Terms terms = with_reservations(2);
  terms.max_wait = 600 * kMinute;
  terms.expected_stay = 30 * kMinute;  // so one is called at a time
  Hall hall(terms);
  for (const std::uint64_t n : {1, 2}) {
    hall.join(n);
    hall.pass(Milliseconds(1'000));
    REQUIRE(hall.enter(n));
  }
  for (std::uint64_t n = 3; n <= 6; ++n) {
    hall.join(n);
    REQUIRE(hall.reserve(n));
  }
  hall.pass(2 * kMinute);
  hall.leave(1);
  hall.pass(Milliseconds(3'000));
  REQUIRE(hall.is_called(3));
  REQUIRE_FALSE(hall.is_called(6));
  CHECK(std::get<NotCalled>(hall.room.call_next(hall.now)) == NotCalled::all_away);
  CHECK(std::get<TicketId>(hall.room.call_one(id_of(6), hall.now)) == id_of(6));
  CHECK(hall.enter(6));
  hall.leave(2);
  hall.pass(15 * kMinute);  // 3 has missed its call
  CHECK(hall.is_called(4));
}

TEST_CASE("those who are away and are not expected are no part of what is taken of the line") {
  Hall hall;
  hall.fill();
  for (std::uint64_t n = 2; n <= 11; ++n) {
    hall.join(n);
    REQUIRE(hall.reserve(n));
  }
  const auto sum = [&] {
    const Space space = hall.room.space(0);
    return space.taken + space.away;
  };
  CHECK(hall.room.space(0).away == 0);
  CHECK(sum() == 10);
  hall.pass(2 * kMinute);
  CHECK(hall.room.space(0).away == doctest::Approx(2));
  CHECK(sum() == doctest::Approx(10));
  hall.leave(1);
  hall.pass(2 * kMinute);  // some are called, some are passed over
  REQUIRE(hall.is_called(2));
  CHECK(hall.room.space(0).away >= doctest::Approx(2));
  CHECK(sum() == doctest::Approx(10));
}

TEST_CASE("a reload that takes reservations from anonymous visitors keeps those that were made") {
  Hall hall;
  hall.fill();
  hall.join(2);
  hall.join(3);
  REQUIRE(hall.reserve(2));
  Terms terms = with_reservations();
  terms.reserve.anonymous = false;
  hall.room.set_terms(terms, hall.now);
  CHECK(hall.view(2)->is_reserved);
  CHECK_FALSE(hall.view(3)->may_reserve);
  CHECK_FALSE(hall.reserve(3));
  hall.pass(30 * kMinute);
  CHECK_FALSE(hall.view(3));
  hall.leave(1);
  hall.pass(Milliseconds(2'000));
  CHECK(hall.is_called(2));
  CHECK(hall.enter(2));
}

}  // namespace spillway::waiting
