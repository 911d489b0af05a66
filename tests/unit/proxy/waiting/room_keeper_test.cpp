// Two proxies with one waiting room, on a log in memory that can be cut off from each of them.
#include "proxy/waiting/room_keeper.hpp"

#include <doctest/doctest.h>

#include "unit/proxy/waiting/proxies_in_memory.hpp"

namespace spillway::proxy::in_memory {
namespace {

TEST_CASE("a second proxy learns of the first one's visitors, also from a snapshot") {
  Database database;
  Proxy first(database, one_place());
  CHECK(first.arrives() == Door::enter);
  CHECK(first.room->look_at_door({}, Clock::now()) == Door::wait);
  REQUIRE(first.joins(1));
  REQUIRE(first.joins(2));
  std::atomic<bool> never{false};
  LogInMemory log(database, never);
  REQUIRE(!compact(log, "sale", 1));
  REQUIRE(!database.snapshots["sale"].bytes.empty());
  Proxy second(database, one_place());
  CHECK(second.ahead(2) == 1);
  CHECK(second.room->look_at_door({}, Clock::now()) == Door::wait);
  // And the first one of the second one's.
  REQUIRE(second.joins(3));
  CHECK(first.becomes([&] { return first.ahead(3) == 2; }));
  CHECK(second.room->sight(Clock::now()).proxies == 2);
  // The token of one is good at the other.
  const TimePoint now = Clock::now();
  const waiting::TokenText text = first.room->sign(first.stamp(9), now);
  CHECK(second.room->verify({text.data(), text.size()}, now));
}

TEST_CASE("a reservation that one proxy made is one for the other, and calls there") {
  Database database;
  config::WaitingRoom room = one_place();
  room.tickets.reserve = config::WaitingReserve{.anonymous = true};
  Proxy first(database, room);
  Proxy second(database, room);
  REQUIRE(first.arrives() == Door::enter);
  REQUIRE(first.joins(1));
  REQUIRE(first.joins(2));
  const auto reserved_at = [](Proxy& proxy, std::uint8_t number) {
    const auto view = proxy.room->with(Clock::now(), [&](waiting::WaitingRoom& its, waiting::Time) {
      return its.peek({{number}});
    });
    return view && view->is_reserved;
  };
  Token ticket = first.stamp(1);
  ticket.kind = TokenKind::ticket;
  const auto granted = second.ask(waiting::Reserve{{ticket}, ""});
  REQUIRE(granted);
  REQUIRE(*granted);
  CHECK((*granted)->is_granted);
  CHECK(first.becomes([&] { return reserved_at(first, 1); }));
  CHECK(reserved_at(second, 1));
  CHECK_FALSE(reserved_at(first, 2));
  const auto again = first.ask(waiting::Reserve{{ticket}, ""});
  REQUIRE(again);
  CHECK_FALSE((*again)->is_granted);
}

namespace {

config::WaitingRoom with_reservations(
    config::OnStoreFailure on_failure = config::OnStoreFailure::hold) {
  config::WaitingRoom room = one_place(on_failure);
  room.tickets.reserve = config::WaitingReserve{.anonymous = true};
  room.webhook = config::WaitingWebhook{.route = "hooks"};
  return room;
}

bool reserve(Proxy& proxy, std::uint8_t number, const std::string& user) {
  Token ticket = proxy.stamp(number);
  ticket.kind = TokenKind::ticket;
  const auto granted = proxy.ask(waiting::Reserve{{ticket}, user});
  return granted && *granted && (*granted)->is_granted;
}

// Of the events `reserved` since.
std::vector<std::string> told_users(Proxy& proxy) {
  std::vector<std::string> users;
  for (const waiting::TicketEvent& one : proxy.room->take_events(100)) {
    if (one.event == waiting::Event::reserved) users.push_back(one.user);
  }
  return users;
}

}  // namespace

TEST_CASE("the user of a reservation is told by the proxy that was asked, and is not in the log") {
  Database database;
  const config::WaitingRoom room = with_reservations();
  Proxy first(database, room);
  Proxy second(database, room);
  REQUIRE(first.becomes([&] { return first.room->sight(Clock::now()).proxies == 2; }));
  REQUIRE(first.arrives() == Door::enter);
  REQUIRE(first.joins(1));
  REQUIRE(first.joins(2));
  first.tick();  // from then on events are noted
  second.tick();
  REQUIRE(reserve(second, 1, "\"ann-of-the-shop\""));
  REQUIRE(reserve(first, 2, "\"bob-of-the-shop\""));
  CHECK(told_users(second) == std::vector<std::string>{"\"ann-of-the-shop\""});
  CHECK(told_users(first) == std::vector<std::string>{"\"bob-of-the-shop\""});
  const std::lock_guard lock(database.mutex);
  for (const store::RoomRow& row : database.rows["sale"])
    CHECK(row.entry.find("of-the-shop") == std::string::npos);
}

TEST_CASE("the user of a reservation is told although the database did not answer") {
  Database database;
  Proxy proxy(database, with_reservations());
  REQUIRE(proxy.arrives() == Door::enter);
  REQUIRE(proxy.joins(1));
  proxy.tick();
  database.loses_answer = true;
  CHECK_FALSE(reserve(proxy, 1, "\"ann\""));  // it is told that it may have been done
  REQUIRE_FALSE(database.loses_answer);
  std::vector<std::string> users;
  CHECK(proxy.becomes([&] {
    for (const std::string& user : told_users(proxy)) users.push_back(user);
    return !users.empty();
  }));
  CHECK(users == std::vector<std::string>{"\"ann\""});
}

TEST_CASE(
    "a proxy that is cut off and goes on takes no reservation, which no webhook would learn") {
  Database database;
  Proxy proxy(database, with_reservations(config::OnStoreFailure::open));
  REQUIRE(proxy.arrives() == Door::enter);
  REQUIRE(proxy.joins(1));
  proxy.is_cut = true;
  REQUIRE(proxy.becomes([&] { return proxy.failures == 1; }));
  proxy.tick();
  CHECK_FALSE(reserve(proxy, 1, "\"ann\""));
  CHECK(proxy.ask(waiting::Cancel{.id = {{1}}}) == true);  // the control: it goes on
}

TEST_CASE("a proxy that is behind a snapshot takes it, and goes on") {
  Database database;
  Proxy first(database, one_place());
  Proxy second(database, one_place());
  REQUIRE(second.becomes([&] { return second.room->sight(Clock::now()).proxies == 2; }));
  second.is_cut = true;
  REQUIRE(second.becomes([&] { return second.failures == 1; }));
  for (std::uint8_t number = 1; number < 9; ++number)
    REQUIRE(first.ask(waiting::Join{{first.stamp(number)}}));
  std::atomic<bool> never{false};
  LogInMemory log(database, never);
  REQUIRE(!compact(log, "sale", 1));
  second.is_cut = false;
  CHECK(second.becomes(
      [&] { return second.ahead(8).has_value() && second.ahead(8) == first.ahead(8); }));
}

TEST_CASE("a proxy that knows more than the database that took over forgets it") {
  Database database;
  Proxy first(database, one_place());
  Proxy second(database, one_place());
  REQUIRE(first.arrives() == Door::enter);
  REQUIRE(first.joins(1));
  std::size_t rows = 0;
  {
    const std::lock_guard lock(database.mutex);
    rows = database.rows["sale"].size();
  }
  REQUIRE(first.joins(2));
  REQUIRE(second.becomes([&] { return second.ahead(2).has_value(); }));
  first.is_cut = second.is_cut = true;
  REQUIRE(first.becomes([&] { return first.failures == 1 && second.failures == 1; }));
  {
    const std::lock_guard lock(database.mutex);
    database.rows["sale"].resize(rows);
  }
  first.is_cut = false;
  REQUIRE(first.becomes([&] { return first.ask(waiting::Join{{first.stamp(3)}}).has_value(); }));
  second.is_cut = false;
  CHECK(second.becomes([&] { return second.ahead(3).has_value(); }));
  // Who was heard of at the second one meanwhile has its place again.
  CHECK(second.becomes([&] { return second.ahead(3) == first.ahead(3); }));
}

TEST_CASE("a proxy that is cut off lets nobody in with `hold`, and tells what is known") {
  Database database;
  Proxy first(database, one_place());
  REQUIRE(first.ask(waiting::Arrive{}));
  REQUIRE(first.joins(1));
  first.is_cut = true;
  REQUIRE(first.becomes([&] { return first.failures == 1; }));
  CHECK(first.context->keeping == PlaceKeeping::fails);
  CHECK_FALSE(first.ask(waiting::Join{{first.stamp(2)}}));
  CHECK(first.ahead(1) == 0);
  first.is_cut = false;
  CHECK(first.becomes([&] { return first.ask(waiting::Join{{first.stamp(2)}}).has_value(); }));
  CHECK(first.context->keeping == PlaceKeeping::works);
  CHECK(first.failures == 1);
}

TEST_CASE("with `hold` nobody is let by a proxy that is cut off, also where there was room") {
  Database database;
  const auto room = settings(5, config::OnStoreFailure::hold);
  Proxy first(database, room);
  Proxy second(database, room);
  const auto has_to_wait = [](Proxy& proxy) {
    return proxy.room->with(Clock::now(), [](waiting::WaitingRoom& its, waiting::Time now) {
      return its.has_to_wait(now);
    });
  };
  REQUIRE(first.becomes([&] { return first.room->sight(Clock::now()).proxies == 2; }));
  REQUIRE(first.arrives() == Door::enter);
  const Token pass{TokenKind::pass, {{7}}, 0, first.room->time_at(Clock::now())};
  REQUIRE(first.ask(waiting::ShowPass{{pass}})->use == waiting::Use::renewed);
  CHECK_FALSE(has_to_wait(first));
  first.is_cut = true;
  REQUIRE(first.becomes([&] { return first.failures == 1; }));
  first.tick();
  CHECK(has_to_wait(first));
  CHECK(first.room->look_at_door({}, Clock::now()) == Door::wait);
  CHECK_FALSE(first.arrives());
  CHECK(first.room->honours(pass, Clock::now()));  // who is inside goes on
  CHECK_FALSE(has_to_wait(second));
  first.is_cut = false;
  REQUIRE(first.becomes([&] { return first.arrives() == Door::enter; }));
  CHECK_FALSE(has_to_wait(first));
  CHECK(second.becomes([&] { return second.room->counts(Clock::now()).provisional > 0; }));
}

TEST_CASE("with `open` a proxy that is cut off goes on, and what became of it is told afterwards") {
  Database database;
  const auto room = settings(5, config::OnStoreFailure::open);
  Proxy first(database, room);
  Proxy second(database, room);
  REQUIRE(second.becomes([&] { return second.room->sight(Clock::now()).proxies == 2; }));
  REQUIRE(first.arrives() == Door::enter);
  REQUIRE(second.becomes([&] { return second.room->counts(Clock::now()).provisional == 1; }));
  second.is_cut = true;
  REQUIRE(second.becomes([&] { return second.ask(waiting::Arrive{}).has_value(); }));
  // Of four that were free it has two.
  CHECK(second.arrives() == Door::enter);
  CHECK(second.arrives() != Door::enter);
  const Token pass{TokenKind::pass, {{7}}, 0, second.room->time_at(Clock::now())};
  const auto renewal = second.ask(waiting::ShowPass{{pass}});
  REQUIRE(renewal);
  REQUIRE(renewal->use == waiting::Use::renewed);
  CHECK(second.joins(8));
  CHECK_FALSE(first.ahead(8));
  second.is_cut = false;
  REQUIRE(second.becomes([&] { return second.context->keeping == PlaceKeeping::works; }));
  // The session and the ticket are the others' as well.
  CHECK(first.becomes([&] {
    const auto view = first.room->last_seen({{7}}, Clock::now());
    return view && view->state == waiting::TicketState::fulfilled;
  }));
  CHECK(first.becomes([&] { return first.ahead(8).has_value(); }));
}

TEST_CASE("a visitor that entered and left at a proxy that was cut off has no session left") {
  Database database;
  auto room = settings(4, config::OnStoreFailure::open);
  room.opening.when = config::WaitingWhen::always;
  Proxy first(database, room);
  Proxy second(database, room);
  const auto is_called = [&](std::uint8_t number) {
    return second.becomes([&] {
      const auto view = second.room->last_seen({{number}}, Clock::now());
      return view && view->state == waiting::TicketState::processing;
    });
  };
  for (const std::uint8_t number : {7, 8}) REQUIRE(second.joins(number));
  for (const std::uint8_t number : {7, 8}) REQUIRE(is_called(number));
  REQUIRE(first.becomes([&] { return first.room->counts(Clock::now()).processing == 2; }));
  second.is_cut = true;
  for (const std::uint8_t number : {7, 8}) {
    const Token ticket{TokenKind::ticket, {{number}}, 0, second.room->time_at(Clock::now())};
    REQUIRE(second.becomes([&] {
      const auto claimed = second.ask(waiting::Claim{{ticket}});
      return claimed && claimed->session;
    }));
    second.room->hear(ticket, Clock::now());  // it is reported as a ticket, too
  }
  REQUIRE(second.ask(waiting::Cancel{.id = {{8}}}) == true);
  CHECK(first.room->counts(Clock::now()).processing == 2);  // it knows nothing of that yet
  second.is_cut = false;
  const auto is_known = [](Proxy& proxy) {
    const waiting::Counts counts = proxy.room->counts(Clock::now());
    const auto view = proxy.room->last_seen({{7}}, Clock::now());
    return counts.active == 1 && counts.waiting + counts.processing == 0 && view &&
           view->state == waiting::TicketState::fulfilled;
  };
  CHECK(first.becomes([&] { return is_known(first); }));
  CHECK(second.becomes([&] { return is_known(second); }));
}

TEST_CASE(
    "with `open`, a proxy that is cut off lets in no visitor to a device, also if called by hand") {
  auto room = settings(5, config::OnStoreFailure::open);
  room.resources.groups.push_back({.type = "gpu", .name = "only", .count = {}, .sizes = {}});
  room.resources.duration.usual = Milliseconds(60'000);
  const auto hands_out = [](waiting::WaitingRoom& inside, waiting::Time) {
    return inside.hands_out();
  };
  for (const bool is_cut : {false, true}) {
    CAPTURE(is_cut);
    Database database;
    Proxy proxy(database, room);
    REQUIRE(proxy.becomes([&] { return proxy.room->with(Clock::now(), hands_out); }));
    REQUIRE(proxy.ask(waiting::Decide{.is_paused = true}));
    REQUIRE(proxy.joins(1));
    const auto called = proxy.ask(waiting::CallNext{});
    REQUIRE(called);
    REQUIRE(std::holds_alternative<waiting::TicketId>(*called));
    proxy.is_cut = is_cut;
    const Token ticket{TokenKind::ticket, {{1}}, 0, proxy.room->time_at(Clock::now())};
    std::optional<waiting::Claimed> claimed;
    REQUIRE(proxy.becomes([&] {
      claimed = proxy.ask(waiting::Claim{{ticket}});
      return claimed.has_value();
    }));
    CHECK(claimed->session.has_value() == !is_cut);
    CHECK(claimed->view.has_value() == is_cut);
  }
}

TEST_CASE("while the database takes no rows a proxy with `open` lets in its share once") {
  Database database;
  Proxy first(database, settings(5, config::OnStoreFailure::open));
  REQUIRE(first.arrives() == Door::enter);
  database.only_reads = true;
  REQUIRE(first.becomes([&] { return first.failures == 1; }));
  int entered = 0;
  // It is read all the while, and tried to be written to, too.
  CHECK(first.becomes([&] {
    if (first.arrives() == Door::enter) ++entered;
    return database.refused > 8;
  }));
  CHECK(entered == 4);
  database.only_reads = false;
  CHECK(first.becomes([&] { return first.context->keeping == PlaceKeeping::works; }));
  CHECK(first.failures == 1);
}

TEST_CASE("rooms that are gone are looked for with one's own left out, and again after a reload") {
  Database database;
  Proxy first(database, one_place());
  const auto keeps = [&](const std::vector<std::string>& rooms) {
    return first.becomes([&] {
      const std::lock_guard lock(database.mutex);
      return database.kept == rooms;
    });
  };
  CHECK(keeps({"sale"}));
  first.keeper.keep({});
  CHECK(keeps({}));
}

}  // namespace
}  // namespace spillway::proxy::in_memory
