// A visitor that was let in without a wait: its entry is found again by the time in its first pass,
// and what its first contact has opened is counted for as long as it is open.
#include <doctest/doctest.h>

#include "proxy/waiting/stay.hpp"
#include "unit/proxy/waiting/logged_room.hpp"

namespace spillway::proxy {
namespace {

using waiting::Token;
using waiting::TokenKind;
using waiting::Use;
using Door = waiting::WaitingRoom::Door;

constexpr Milliseconds kReport{20'000};

}  // namespace

TEST_CASE("a first pass says when its entry was counted, however late the answer is read") {
  LoggedRoom room(room_of_sessions(1));
  const Token counted = room.enter(1);
  room.pass_without_rows(Milliseconds(1'500));  // the commit takes so long
  const Token late{TokenKind::pass, counted.id, 0, room.room().time_at(room.now())};
  REQUIRE(room.counts().entry.is_open);
  SUBCASE("so it is found") {
    CHECK(room.ask(waiting::ShowPass{{counted}}).use == Use::renewed);
    CHECK(room.counts().active == 1);
  }
  SUBCASE("control: by another time it is not") {
    CHECK(room.ask(waiting::ShowPass{{late}}).use == Use::late);
  }
}

TEST_CASE("a first pass that comes late gets a ticket in its tier, if its visitor may join") {
  LoggedRoom room(room_of_sessions(2));
  Token pass = room.enter(1);
  pass.priority = 2;
  REQUIRE_FALSE(room.room().takes_ticket(pass, room.now()));
  room.pass(Milliseconds(62'000));
  for (const std::uint8_t number : {2, 3})
    REQUIRE(room.ask(waiting::ShowPass{{room.enter(number)}}).use == Use::renewed);
  REQUIRE(room.ask(waiting::Join{{room.token(TokenKind::stamp, 4)}}).has_joined);
  REQUIRE(room.room().takes_ticket(pass, room.now()));
  CHECK(room.ask(waiting::ShowPass{{pass}}).use == Use::late);
  CHECK(room.counts().waiting == 1);
  waiting::ShowPass joining{{pass}};
  joining.may_join = true;
  CHECK(room.ask(joining).use == Use::waits);
  CHECK_FALSE(room.room().takes_ticket(pass, room.now()));
  const auto view = room.room().last_seen(pass.id, room.now());
  REQUIRE(view);
  CHECK(view->priority == 2);
  CHECK(view->joined == pass.time);
}

TEST_CASE("what a first contact has opened begins a session, of one proxy and of several") {
  config::WaitingRoom settings = room_of_sessions(1);
  SUBCASE("one") {
    SharedWaitingRoom room(
        "sale", settings,
        std::make_shared<VisitorContext>(waiting::TokenKeys(HmacKey{}), SipKey{1, 2}));
    TimePoint now = Clock::now();
    const waiting::Arrived arrived = room.perform(waiting::Arrive{}, now);
    REQUIRE(arrived.door == Door::enter);
    const Token pass{TokenKind::pass, {{1}}, 0, arrived.at};
    Stay stay = Stay(room, pass.id, kReport, now).begun_with(pass);
    Stay control(room, {{2}}, kReport, now);
    now += kReport;
    control.report(now);
    CHECK(room.counts(now).active == 0);
    stay.report(now);
    CHECK(room.counts(now).active == 1);
    CHECK(room.counts(now).provisional == 0);
    for (int n = 0; n < 20; ++n) {  // for longer than it may be idle
      stay.report(now += kReport);
      room.tick(settings, {}, now);
      CHECK(room.counts(now).active == 1);
      CHECK(room.perform(waiting::Arrive{}, now).door == Door::wait);
    }
  }
  SUBCASE("several") {
    LoggedRoom room(settings);
    const Token pass = room.enter(1);
    Stay stay = Stay(room.room(), pass.id, kReport, room.now()).begun_with(pass);
    stay.report(room.now());
    CHECK(room.write_calls() == 0);  // not due
    room.pass(kReport);
    SUBCASE("at the first report") {}
    SUBCASE("at the second: the first one's row was lost") {
      stay.report(room.now());
      REQUIRE(room.room().outbox().take_calls().size() == 1);
      room.pass(kReport);
    }
    stay.report(room.now());
    CHECK(room.write_calls() == 1);
    CHECK(room.counts().active == 1);
    for (int n = 0; n < 20; ++n) {
      room.pass(kReport);
      stay.report(room.now());
      CHECK(room.write_calls() == 0);
      CHECK(room.counts().active == 1);
    }
  }
}

TEST_CASE("what is still open of a visitor that has left begins no session") {
  LoggedRoom room(room_of_sessions(1));
  const Token pass = room.enter(1);
  Stay stay = Stay(room.room(), pass.id, kReport, room.now()).begun_with(pass);
  REQUIRE(room.ask(waiting::Cancel{.id = pass.id, .issued = pass.time}));
  room.pass(kReport);
  stay.report(room.now());
  CHECK(room.write_calls() == 0);
  CHECK(room.counts().active == 0);
}

}  // namespace spillway::proxy
