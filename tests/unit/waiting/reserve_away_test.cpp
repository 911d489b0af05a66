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

// Visitor 1 is inside, 2 has reserved, 3 is at its page. What has become of the process by now.
enum class After : std::uint8_t { restart, silence };

void begin_anew(Hall& hall, After after) {
  if (after == After::silence) return hall.room.pardon(hall.now);
  Written written{hall.now, {}};
  for (WaitingRoom::Listing at; hall.room.list(at, written.places);) {
  }
  hall.room = WaitingRoom(with_reservations());
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
  for (const After after : {After::restart, After::silence}) {
    CAPTURE(static_cast<int>(after));
    Hall hall;
    hall.fill();
    hall.join(2);
    REQUIRE(hall.reserve(2));
    hall.join(3);
    begin_anew(hall, after);
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

TEST_CASE(
    "a call of who reserved begins anew where no visitor could be heard of, and holds nobody") {
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
