// Several proxies apply the same rows: they agree, also one that began with an archive.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.hpp"
#include "unit/waiting/crowd.hpp"
#include "waiting/place/by_tie.hpp"
#include "waiting/replica/replica.hpp"

namespace spillway::waiting {
namespace {

const ProxyId kFirst = id_of(1'000'001);
const ProxyId kSecond = id_of(1'000'002);

Token token_of(TokenKind kind, std::uint64_t number, Time time, std::uint32_t generation = 0) {
  Token token{kind, id_of(number), generation, time};
  if (number % 7 == 0) token.user.bytes[0] = static_cast<std::uint8_t>(1 + number % 200);
  token.priority = number % 5 == 0 ? 1 : 0;
  return token;
}

Terms terms_of_a_sale() {
  Terms terms = terms_for(20);
  terms.per_minute = 90;
  terms.idle = Milliseconds(30'000);
  terms.claim = Milliseconds(8'000);
  terms.abandon = Milliseconds(20'000);
  terms.tiers.list[0] = {1, 0};
  terms.tiers.list[1] = {0, 0.25};
  terms.tiers.count = 2;
  terms.reserve = {Milliseconds(40'000), Milliseconds(12'000), true};
  return terms;
}

// What visitors and operators do, at random.
class Script {
 public:
  explicit Script(std::uint64_t seed) : random_(seed) {}

  LogEntry next(Time now) {
    LogEntry entry{below(2) == 0 ? kFirst : kSecond, ++number_, {below(40) == 0, 0.6}, {}};
    if (number_ == 1) entry.commands.emplace_back(News{.terms = terms_of_a_sale()});
    for (std::uint64_t n = below(6); n > 0; --n) entry.commands.push_back(any(now));
    return entry;
  }

  std::uint64_t reserved() const { return reserved_; }

 private:
  std::uint64_t below(std::uint64_t most) { return random_.next() % most; }
  std::uint64_t somebody() { return below(newest_ + 1); }
  Command any(Time now) {
    const std::uint64_t one = somebody();
    switch (below(14)) {
      case 0: return Arrive{.priority = 0, .user = {}, .wants_ticket = below(2) == 0};
      case 1:
      case 2:
      case 3: return Join{{token_of(TokenKind::stamp, ++newest_, now - Milliseconds(900))}};
      case 4: return Offer{{token_of(TokenKind::stamp, one, now)}};
      case 5:
      case 6: return Claim{{token_of(TokenKind::ticket, one, now)}};
      case 7: {
        const auto generation = static_cast<std::uint32_t>(below(3));
        return ShowPass{{token_of(TokenKind::pass, one, now - Milliseconds(25'000), generation)}};
      }
      case 8: return Extend{{token_of(TokenKind::ticket, one, now)}};
      case 9: return rare(one, now);
      case 10: return GoBack{id_of(one)};
      default: {
        News news;
        for (int n = 0; n < 12; ++n) news.heard.push_back(id_of(somebody()));
        for (int n = 0; n < 4; ++n) news.stayed.push_back(id_of(somebody()));
        news.turned = {below(2) == 0, 1, 0};
        return news;
      }
    }
  }
  Command rare(std::uint64_t one, Time now) {
    switch (below(9)) {
      case 0: return CallNext{};
      case 6: return CallOne{id_of(one)};
      case 1: return Move{id_of(one), below(9)};
      case 2: return Decide{.is_paused = below(3) == 0};
      case 3: return Decide{.message = "soon"};
      case 4:
      case 5: ++reserved_; return Reserve{{token_of(TokenKind::ticket, one, now)}, "\"ann\""};
      default: return Cancel{id_of(one), Ended::cancelled};
    }
  }

  Random random_;
  std::uint64_t number_ = 0;
  std::uint64_t newest_ = 0;
  std::uint64_t reserved_ = 0;
};

Time after(Time now, Random& random) { return now + Milliseconds(random.next() % 400); }

TEST_CASE("a row holds no name of a user") {
  const Token ticket{TokenKind::ticket, id_of(1), 0, kStart};
  const LogEntry entry{id_of(9), 1, {}, {Reserve{{ticket}, "\"ann-of-the-shop\""}}};
  const std::string bytes = to_bytes(entry);
  CHECK(bytes.find("ann-of") == std::string::npos);
  const auto read = read_entry(bytes);
  REQUIRE(read);
  CHECK(std::get<Reserve>(read->commands.front()).token.id == id_of(1));
}

TEST_CASE("the same rows make the same waiting room, also from an archive on") {
  constexpr int kRows = 6'000;
  Script script(7);
  Random random(8);
  Replica first;
  Replica second(terms_for(3));  // before the first row its terms do not matter
  second = Replica();
  Replica late;
  Time now = kStart;
  for (int row = 0; row < kRows; ++row) {
    now = after(now, random);
    const LogEntry entry = script.next(now);
    const auto read = read_entry(to_bytes(entry));
    REQUIRE(read);
    const auto outcomes = first.apply(entry, now);
    const auto same = second.apply(*read, now);
    REQUIRE(outcomes.size() == entry.commands.size());
    REQUIRE(outcomes.size() == same.size());
    for (std::size_t n = 0; n < outcomes.size(); ++n) CHECK(outcomes[n].index() == same[n].index());
    if (row == kRows / 2) REQUIRE(late.restore(first.archive()));
    if (row > kRows / 2) late.apply(entry, now);
    if (row % 500 == 0) REQUIRE(first.archive() == second.archive());
  }
  CHECK(first.room().counts(now).called > 100);
  CHECK(script.reserved() > 100);
  CHECK(first.room().counts(now).fulfilled > 50);
  CHECK(first.archive() == second.archive());
  CHECK(first.archive() == late.archive());

  // Controls: of two rows the order counts, and each row does.
  Replica other;
  REQUIRE(other.restore(first.archive()));
  const LogEntry one = {kFirst, 1, {}, {Join{{token_of(TokenKind::stamp, 900'001, now)}}}};
  const LogEntry two = {kSecond, 1, {}, {Join{{token_of(TokenKind::stamp, 900'002, now)}}}};
  first.apply(one, now);
  first.apply(two, now);
  other.apply(two, now);
  CHECK(first.archive() != other.archive());
  other.apply(one, now);
  CHECK(first.archive() != other.archive());
}

TEST_CASE("an archive that is cut short, or has a byte too many, is refused") {
  Replica replica;
  replica.apply({kFirst, 1, {}, {Join{{token_of(TokenKind::stamp, 1, kStart)}}}}, kStart);
  const std::string bytes = replica.archive();
  Replica read;
  CHECK(read.restore(bytes));
  for (std::size_t size = 0; size < bytes.size(); size += 7)
    CHECK_FALSE(read.restore(std::string_view(bytes).substr(0, size)));
  CHECK_FALSE(read.restore(bytes + "x"));
  CHECK(read.archive() == bytes);
}

LogEntry hearing(const ProxyId& proxy, std::vector<TicketId> heard) {
  return {proxy, 1, {}, {News{.heard = std::move(heard)}}};
}

// A room of one session that is taken, and one visitor who waits.
struct TakenRoom {
  TakenRoom() {
    Terms terms = terms_for(1, When::always);
    replica.apply({kFirst, 1, {}, {News{.terms = terms}, join(1), join(2)}}, now);
    claim(1);
  }
  Join join(std::uint64_t number) const {
    return {{Token{TokenKind::stamp, id_of(number), 0, kStart}}};
  }
  bool claim(std::uint64_t number) {
    const Claim claim{{Token{TokenKind::ticket, id_of(number), 0, kStart}}};
    for (int n = 0; n < 3; ++n) {
      now += Milliseconds(200);
      const auto outcomes = replica.apply({kFirst, 1, {}, {claim}}, now);
      if (std::get<Claimed>(outcomes[0]).session) return true;
    }
    return false;
  }
  TicketState state(std::uint64_t number) const {
    return replica.room().peek(id_of(number))->state;
  }

  Time now = kStart;
  Replica replica;
};

TEST_CASE("any proxy's row calls who may come in, although another one has stopped") {
  TakenRoom sale;
  REQUIRE(sale.state(1) == TicketState::fulfilled);
  REQUIRE(sale.state(2) == TicketState::waiting);
  sale.replica.apply({kFirst, 1, {}, {Cancel{id_of(1), Ended::cancelled}}}, sale.now);
  REQUIRE(sale.state(2) == TicketState::waiting);  // the tick is not due yet
  sale.now += Milliseconds(1'000);                 // a call a second: Backend::pace
  sale.replica.apply({kSecond, 1, {}, {}}, sale.now);
  CHECK(sale.state(2) == TicketState::processing);
  // What the first one writes when it goes on calls nobody again.
  sale.replica.apply({kFirst, 2, {}, {}}, sale.now + Milliseconds(1));
  CHECK(sale.replica.room().counts(sale.now).called == 2);
}

TEST_CASE("a time without any proxy costs nobody a place, and one with costs the absent theirs") {
  for (const bool is_silent : {true, false}) {
    TakenRoom sale;
    const Time until = sale.now + Milliseconds(900'000);
    if (is_silent) {
      sale.now = until;
      sale.replica.apply({kSecond, 1, {}, {}}, sale.now);
    } else {
      for (; sale.now < until; sale.now += Milliseconds(1'000))
        sale.replica.apply(hearing(kSecond, {}), sale.now);
    }
    CHECK(sale.replica.room().peek(id_of(2)).has_value() == is_silent);
    CHECK(sale.replica.room().peek(id_of(1)).has_value() == is_silent);
  }
}

TEST_CASE("each live proxy has its part of the pace, and most of them say that it is overloaded") {
  Replica replica;
  Time now = kStart;
  replica.apply({kFirst, 1, {false, 0.5}, {}}, now);
  replica.apply({kSecond, 1, {true, 0.5}, {}}, now);
  CHECK_FALSE(replica.backend().is_overloaded);
  CHECK(replica.backend().pace == 0.25);
  CHECK(replica.proxies() == 2);
  now += Replica::kAlive + Milliseconds(1);
  replica.apply({kFirst, 2, {false, 0.5}, {}}, now);
  CHECK(replica.backend().pace == 0.5);
  CHECK(replica.proxies() == 1);
  replica.apply({kFirst, 3, {true, 0.5}, {}}, now);
  CHECK(replica.backend().is_overloaded);
}

TEST_CASE("what a proxy brings back after it was cut off is taken once, and not what has ended") {
  TakenRoom sale;
  const auto bring = [&](const Place& place) {
    sale.replica.apply({kSecond, 1, {}, {News{.back = {place, place}}}}, sale.now);
  };
  bring({.id = id_of(3), .kind = Place::Kind::ticket, .since = kStart - Milliseconds(1)});
  CHECK(sale.replica.room().peek(id_of(2))->ahead == 1);
  bring({.id = id_of(4), .kind = Place::Kind::session, .since = kStart});
  CHECK(sale.replica.room().counts(sale.now).active == 2);
  sale.replica.apply({kFirst, 1, {}, {Cancel{id_of(2), Ended::cancelled}}}, sale.now);
  bring({.id = id_of(2), .kind = Place::Kind::ticket, .since = kStart});
  CHECK_FALSE(sale.replica.room().peek(id_of(2)));
}

TEST_CASE("events of a proxy's own rows are noted by it alone") {
  Replica replica;
  EventSet all{};
  all.fill(true);
  replica.own().want_events(all);
  for (const bool is_its_own : {false, true}) {
    replica.own().note_events(is_its_own);
    const Join join{{Token{TokenKind::stamp, id_of(is_its_own ? 2 : 1), 0, kStart}}};
    replica.apply({kFirst, 1, {}, {News{.terms = terms_for(1, When::always)}, join}}, kStart);
  }
  const auto events = replica.own().take_events(9);
  REQUIRE(!events.empty());
  CHECK(std::ranges::all_of(events, [](const TicketEvent& each) { return each.id == id_of(2); }));
}

std::vector<TicketId> order_in(const WaitingRoom& room) {
  std::vector<TicketId> ids;
  for (const auto& report : room.list_line(std::nullopt, 100, kStart)) ids.push_back(report.id);
  return ids;
}

std::vector<Place> places_of(const WaitingRoom& room) {
  std::vector<Place> places;
  room.look_up(order_in(room), kStart, places);
  return places;
}

TEST_CASE("tickets of one arrival that are brought back keep their order, whichever are known") {
  WaitingRoom apart(terms_for(1, When::always));
  for (std::uint64_t n = 1; n <= 5; ++n) apart.join(id_of(n), kStart, kStart);
  apart.move(id_of(4), 0);
  apart.move(id_of(2), 4);
  const std::vector<TicketId> wanted = order_in(apart);
  std::vector<Place> places = places_of(apart);
  REQUIRE(places.size() == 5);
  for (int turn = 0; turn < 5; ++turn) {
    std::ranges::rotate(places, places.begin() + 1);
    for (const std::size_t known : {0U, 1U, 3U}) {
      CAPTURE(turn);
      CAPTURE(known);
      const std::span<const Place> all = places;
      WaitingRoom in_one_row(terms_for(1, When::always));
      in_one_row.bring_back(all.first(known), kStart);
      in_one_row.bring_back(all.subspan(known), kStart);
      CHECK(order_in(in_one_row) == wanted);
      WaitingRoom in_rows(terms_for(1, When::always));
      in_rows.bring_back(all.first(known), kStart);
      for (const Place* const place : by_tie(all.subspan(known)))
        in_rows.bring_back({place, 1}, kStart);
      CHECK(order_in(in_rows) == wanted);
    }
  }
  // The control: what says nothing of its order stands behind.
  std::ranges::reverse(places);
  WaitingRoom without(terms_for(1, When::always));
  for (Place place : places) {
    place.tie = 99;
    without.bring_back({&place, 1}, kStart);
  }
  CHECK(order_in(without) != wanted);
}

TEST_CASE("a session and a ticket that were given up elsewhere are given up here") {
  WaitingRoom room(terms_for(3));
  REQUIRE(room.join(id_of(1), kStart, kStart).session);
  REQUIRE(room.join(id_of(2), kStart, kStart).session);
  room.hold_open(true);
  for (const std::uint64_t n : {3, 4, 5}) REQUIRE(room.join(id_of(n), kStart, kStart).has_joined);
  const std::vector<Place> told{{.id = id_of(1), .kind = Place::Kind::left, .why = Ended::copied},
                                {.id = id_of(3), .kind = Place::Kind::left, .why = Ended{200}},
                                {.id = id_of(4), .kind = Place::Kind::ended, .why = Ended::removed},
                                {.id = id_of(9), .kind = Place::Kind::left}};
  room.bring_back(told, kStart);
  const Counts counts = room.counts(kStart);
  CHECK(counts.active == 1);
  CHECK(counts.waiting + counts.processing == 1);
  CHECK(room.hear(id_of(5), kStart)->ahead == 0);  // the control: nothing was said of these
  CHECK(room.has_session(id_of(2)));
  for (const std::uint64_t n : {1, 3}) CHECK(room.end_of(id_of(n), kStart)->was_session);
  CHECK_FALSE(room.end_of(id_of(4), kStart)->was_session);
  CHECK(room.end_of(id_of(4), kStart)->why == Ended::removed);
  CHECK(room.end_of(id_of(1), kStart)->why == Ended::copied);
  CHECK(room.end_of(id_of(3), kStart)->why == Ended::cancelled);  // what is no cause is left out
  // That it had come in counts.
  CHECK(counts.entered == 3);
}

}  // namespace
}  // namespace spillway::waiting
