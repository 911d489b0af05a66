// A signature is no place: what is left of a place or a session, or a stamp of none, writes no rows
// into the log that proxies share.
#include <doctest/doctest.h>

#include "unit/proxy/waiting/logged_room.hpp"

namespace spillway::proxy {
namespace {

using waiting::Token;
using waiting::TokenKind;
using waiting::Use;

constexpr Milliseconds kLater{75'000};

// A room of one session, in which others are.
struct FullSharedRoom : LoggedRoom {
  FullSharedRoom() : LoggedRoom(room_of_sessions(1)) { take_place(); }

  void take_place() {
    REQUIRE(ask(waiting::ShowPass{{enter(1)}}).use == Use::renewed);
    REQUIRE(ask(waiting::Join{{token(TokenKind::stamp, 2)}}).has_joined);
  }
  // They go on.
  void pass(Milliseconds time) {
    for (Milliseconds passed{0}; passed < time; passed += Milliseconds(5'000)) {
      room().outbox().stay(id_of(1));
      room().outbox().hear(id_of(2));
      LoggedRoom::pass(Milliseconds(5'000));
    }
  }
  bool is_spent(const Token& token) { return room().is_spent(token, now()); }
};

}  // namespace

TEST_CASE("a stamp without a ticket is worth no row, and one with a ticket is") {
  FullSharedRoom house;
  const Token stamp = house.token(TokenKind::stamp, 3);
  CHECK(house.is_spent(stamp));
  REQUIRE(house.ask(waiting::Join{{stamp}}).has_joined);
  CHECK_FALSE(house.is_spent(stamp));
}

TEST_CASE("a ticket is spent once its end is known, or a row that made it must have been read") {
  FullSharedRoom house;
  const Token ticket = house.token(TokenKind::ticket, 3);
  SUBCASE("another proxy may just have made it") {
    CHECK_FALSE(house.is_spent(ticket));
    house.pass_without_rows(kLater);  // cut off meanwhile
    CHECK_FALSE(house.is_spent(ticket));
  }
  SUBCASE("it has not, by all rows since") {
    house.pass(kLater);
    CHECK_FALSE(house.is_spent(ticket));  // of a first pass that came late
    house.pass(waiting::Terms{}.idle);
    CHECK(house.is_spent(ticket));
  }
  SUBCASE("it waits") {
    REQUIRE(house.ask(waiting::Join{{house.token(TokenKind::stamp, 3)}}).has_joined);
    house.pass(kLater);
    CHECK_FALSE(house.is_spent(ticket));
  }
  SUBCASE("it has ended") {
    REQUIRE(house.ask(waiting::Join{{house.token(TokenKind::stamp, 3)}}).has_joined);
    REQUIRE(house.ask(waiting::Cancel{.id = LoggedRoom::id_of(3)}));
    CHECK(house.is_spent(ticket));
  }
}

TEST_CASE("a pass is spent once its session is over and all have to wait") {
  FullSharedRoom house;
  const Token pass = house.token(TokenKind::pass, 1, 1);
  const Token unknown = house.token(TokenKind::pass, 9, 1);
  CHECK_FALSE(house.is_spent(pass));
  CHECK_FALSE(house.is_spent(unknown));  // a row that is not read yet may have begun its session
  house.pass(kLater);
  CHECK_FALSE(house.is_spent(pass));
  CHECK(house.is_spent(unknown));
  SUBCASE("it was given up") {
    REQUIRE(house.ask(waiting::Cancel{.id = LoggedRoom::id_of(1)}));
    CHECK(house.is_spent(pass));
    SUBCASE("and nobody waits: it may come in") {
      REQUIRE(house.ask(waiting::Cancel{.id = LoggedRoom::id_of(2)}));
      REQUIRE_FALSE(house.room().with(
          house.now(), [](waiting::WaitingRoom& room, auto now) { return room.has_to_wait(now); }));
      CHECK_FALSE(house.is_spent(pass));
    }
  }
}

TEST_CASE("a first pass is spent once its place has ended, or it was idle for too long") {
  LoggedRoom room(room_of_sessions(2));
  const Token first = room.enter(3);
  const Token unused = room.enter(4);
  CHECK_FALSE(room.room().is_spent(first, room.now()));
  REQUIRE(room.ask(waiting::ShowPass{{first}}).use == Use::renewed);
  room.ask(waiting::Decide{.is_held_open = true});
  REQUIRE(room.ask(waiting::Cancel{.id = first.id}));
  CHECK(room.room().is_spent(first, room.now()));
  room.pass(kLater);
  CHECK(room.room().is_spent(first, room.now()));
  CHECK_FALSE(room.room().is_spent(unused, room.now()));  // it may come late
  room.pass(room.settings().sessions.idle);
  CHECK(room.room().is_spent(unused, room.now()));
}

TEST_CASE("what a live token writes is bounded for its address, unless it changes something") {
  FullSharedRoom house;
  const IpAddress one = *parse_ip_address("192.0.2.1");
  const IpAddress other = *parse_ip_address("192.0.2.2");
  config::WaitingRoom settings = house.settings();
  settings.tickets.joins_per_second = 2;
  const auto may_write = [&](const IpAddress& client) {
    return house.room().may_write(client, settings, house.now());
  };
  for (int n = 0; n < 100; ++n) {
    REQUIRE(may_write(one));
    house.room().wrote_a_change(one, settings);
  }
  int written = 0;
  while (written < 100 && may_write(one)) ++written;
  CHECK(written == 20);  // ten seconds' worth
  CHECK(snapshot_of(house.room(), settings).limited_joins == 1);
  CHECK(may_write(other));
  CHECK(house.room().may_join(one, settings, house.now()));  // joins are counted for themselves
}

TEST_CASE("a stamp whose ticket is called is told so without a row") {
  LoggedRoom room(room_of_sessions(1));
  room.ask(waiting::Decide{.is_held_open = true});
  const Token stamp = room.token(TokenKind::stamp, 3);
  REQUIRE(room.ask(waiting::Join{{stamp}}).has_joined);
  room.pass(Milliseconds(1000));
  const auto view = room.room().look_at_place(stamp.id, room.now());
  REQUIRE(view);
  CHECK(view->state == waiting::TicketState::processing);
  CHECK_FALSE(room.room().look_at_ticket(stamp.id, room.now()));  // to enter takes one
  const auto offered = room.room().look_at_offer(stamp, room.now());
  REQUIRE(offered);
  CHECK(offered->view);
}

}  // namespace spillway::proxy
