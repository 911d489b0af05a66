// Places that are offered, and taken by an act.
#include <doctest/doctest.h>

#include <optional>

#include "waiting/token/token.hpp"

#include "crowd.hpp"

namespace spillway::waiting {
namespace {

using Door = WaitingRoom::Door;

// Somebody is inside, so that the others have to wait.
WaitingRoom full_room(const Terms& terms = terms_for(1)) {
  WaitingRoom room(terms);
  REQUIRE(room.join(id_of(0), kStart, kStart).session.has_value());
  return room;
}

std::size_t tickets(const WaitingRoom& room) {
  const Counts counts = room.counts(kStart);
  return counts.waiting + counts.processing;
}

}  // namespace

TEST_CASE("however often an offer is looked at, it makes no ticket, and leaves nothing") {
  WaitingRoom room = full_room();
  for (int n = 0; n < 1000; ++n) {
    const auto contact = room.offer(id_of(1), kStart);
    CHECK(contact.door == Door::wait);
    CHECK_FALSE(contact.view);
    CHECK_FALSE(contact.session);
  }
  CHECK(tickets(room) == 0);
  CHECK(room.counts(kStart).joined == 0);
  CHECK_FALSE(room.hear(id_of(1), kStart));
  CHECK_FALSE(room.end_of(id_of(1), kStart));
  // The control: the same visitor, where a second contact makes one.
  CHECK(room.join(id_of(1), kStart, kStart).has_joined);
  CHECK(tickets(room) == 1);
}

TEST_CASE("who has taken its place has it, whichever page asks") {
  WaitingRoom room = full_room();
  Time now = kStart + Milliseconds(10);
  REQUIRE(room.join(id_of(1), kStart, now).has_joined);
  const auto contact = room.offer(id_of(1), now);
  CHECK(contact.door == Door::wait);
  REQUIRE(contact.view);
  CHECK(contact.view->ahead == 0);
  CHECK_FALSE(contact.has_joined);
  CHECK(tickets(room) == 1);
}

TEST_CASE("an offer becomes a session when visitors no longer have to wait") {
  WaitingRoom room(terms_for(2));
  const auto contact = room.offer(id_of(1), kStart);
  CHECK(contact.door == Door::enter);
  REQUIRE(contact.session);
  const auto again = room.offer(id_of(1), kStart);
  REQUIRE(again.session);
  CHECK(again.session->id == contact.session->id);
  CHECK(room.counts(kStart).active == 1);
  CHECK(room.counts(kStart).joined == 0);
}

TEST_CASE("nothing is offered where there is no place to take") {
  Terms terms = terms_for(1);
  terms.max_tickets = 1;
  WaitingRoom room = full_room(terms);
  REQUIRE(room.join(id_of(1), kStart, kStart).has_joined);
  CHECK(room.offer(id_of(2), kStart).door == Door::full);
  CHECK(room.counts(kStart).refused == 1);

  const UserKey ann{{1, 2, 3}};
  WaitingRoom own = full_room();
  REQUIRE(own.join(id_of(1), kStart, kStart, 0, ann).has_joined);
  CHECK(own.offer(id_of(2), kStart, 0, ann).door == Door::taken);
  CHECK(own.offer(id_of(3), kStart).door == Door::wait);

  own.end_room(true);
  CHECK(own.offer(id_of(3), kStart).door == Door::ended);
}

TEST_CASE("a page with an offer that is left alone does not hold the waiting room open") {
  for (const When when : {When::full, When::overloaded}) {
    WaitingRoom room = full_room(terms_for(1, when));
    Time now = kStart;
    room.tick(now += kTick, kHealthy);
    REQUIRE(room.offer(id_of(1), now).door == Door::wait);
    REQUIRE(room.cancel(id_of(0), now));
    bool is_let_in = false;
    while (!is_let_in && now - kStart < Milliseconds(300'000)) {
      for (int n = 0; n < 50; ++n) room.tick(now += kTick, kHealthy);
      is_let_in = room.offer(id_of(1), now).session.has_value();
    }
    CHECK(is_let_in);
  }
}

TEST_CASE("a place that is taken late goes by when it was taken") {
  WaitingRoom room = full_room();
  const Time later = kStart + kStampLife + Milliseconds(5000);
  room.tick(later, kHealthy);
  REQUIRE(room.join(id_of(2), later - Milliseconds(1), later).has_joined);
  const Token stamp{TokenKind::stamp, id_of(1), 0, kStart};
  const auto arrival = arrival_of(stamp, later, kOfferLife);
  REQUIRE(arrival);
  const auto late = room.join(id_of(1), arrival->time, later);
  REQUIRE(late.view);
  CHECK(late.view->ahead == 1);
  CHECK(ticket_of(stamp, late.view->joined).time == later);
}

TEST_CASE(
    "a place goes by the arrival for a minute, then by now, and an offer ends after an hour") {
  const Token stamp{TokenKind::stamp, id_of(1), 0, kStart};
  const auto taken_at = [&](Milliseconds age, Milliseconds life) {
    const auto arrival = arrival_of(stamp, kStart + age, life);
    return arrival ? std::optional(arrival->time) : std::nullopt;
  };
  const Milliseconds more(1);
  CHECK(taken_at(Milliseconds(0), kOfferLife) == kStart);
  CHECK(taken_at(kStampLife, kOfferLife) == kStart);
  CHECK(taken_at(kStampLife + more, kOfferLife) == kStart + kStampLife + more);
  CHECK(taken_at(kOfferLife, kOfferLife) == kStart + kOfferLife);
  CHECK(taken_at(kOfferLife + more, kOfferLife) == std::nullopt);
  CHECK(taken_at(kStampLife, kStampLife) == kStart);
  CHECK(taken_at(kStampLife + more, kStampLife) == std::nullopt);
}

}  // namespace spillway::waiting
