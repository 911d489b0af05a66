// Visitors who are called, come in, and get a failure: they are where they were.
#include <doctest/doctest.h>

#include <vector>

#include "crowd.hpp"
#include "waiting/room/waiting_room.hpp"

namespace spillway::waiting {
namespace {

struct Sale {
  explicit Sale(std::uint32_t attempts = 3)
      : room([attempts] {
          Terms terms = terms_for(1, When::always);
          terms.attempts = attempts;
          return terms;
        }()) {
    for (std::uint64_t n = 1; n <= 3; ++n) {
      now += Milliseconds(1);
      REQUIRE(room.join(id_of(n), now, now).view);
    }
  }
  void pass(Milliseconds time) {
    for (const Time until = now + time; now < until;) room.tick(now += kTick, kHealthy);
  }
  std::optional<WaitingRoom::Session> enter(std::uint64_t n) {
    pass(Milliseconds(1'500));  // one session, so one call in a second
    return room.claim(id_of(n), now);
  }
  std::vector<std::size_t> places() const {
    std::vector<std::size_t> all;
    for (std::uint64_t n = 1; n <= 3; ++n) all.push_back(room.inspect(id_of(n), now)->view.ahead);
    return all;
  }

  WaitingRoom room;
  Time now = kStart;
};

}  // namespace

TEST_CASE("who came in to a failure is back at its own place, and is called again") {
  Sale sale;
  const WaitingRoom::View before = *sale.room.hear(id_of(1), sale.now);
  REQUIRE(sale.enter(1));
  CHECK(sale.room.go_back(id_of(1), sale.now));
  CHECK(sale.places() == std::vector<std::size_t>{0, 1, 2});
  const WaitingRoom::View view = *sale.room.hear(id_of(1), sale.now);
  CHECK(view.state == TicketState::waiting);
  CHECK(view.joined == before.joined);
  CHECK_FALSE(sale.room.end_of(id_of(1), sale.now));
  const Counts counts = sale.room.counts(sale.now);
  CHECK(counts.active == 0);
  CHECK(counts.waiting == 3);
  CHECK(counts.entries_failed == 1);
  CHECK(counts.sessions_ended == Counts{}.sessions_ended);
  CHECK_FALSE(sale.room.claim(id_of(2), sale.now));  // nobody else was called for it
  REQUIRE(sale.enter(1));
  CHECK(sale.room.counts(sale.now).active == 1);
}

TEST_CASE("the last of its attempts leaves it inside, and calls that it missed are no entries") {
  for (const std::uint32_t attempts : {1U, 2U, 3U}) {
    CAPTURE(attempts);
    Sale sale(attempts);
    std::uint32_t failures = 0;
    do {
      REQUIRE(sale.enter(1));
      ++failures;
    } while (sale.room.go_back(id_of(1), sale.now));
    CHECK(failures == attempts);
    CHECK(sale.room.inspect(id_of(1), sale.now)->view.state == TicketState::fulfilled);
    CHECK(sale.room.counts(sale.now).entries_failed == attempts - 1);
  }
  Sale late;
  late.pass(late.room.terms().claim + Milliseconds(10'000));
  late.room.hear(id_of(1), late.now);
  CHECK(late.room.inspect(id_of(1), late.now)->missed == 1);
  REQUIRE(late.enter(1));
  REQUIRE(late.room.go_back(id_of(1), late.now));
  CHECK(late.room.inspect(id_of(1), late.now)->missed == 1);
}

TEST_CASE("a visitor that was seen again, or never stood in line, does not go back") {
  Sale sale;
  CHECK_FALSE(sale.room.go_back(id_of(1), sale.now));  // it is not inside
  CHECK_FALSE(sale.room.go_back(id_of(9), sale.now));
  const auto session = sale.enter(1);
  REQUIRE(session);
  SUBCASE("its ticket came twice") { REQUIRE(sale.room.claim(id_of(1), sale.now)); }
  SUBCASE("its pass was used") { sale.room.use(id_of(1), session->generation, sale.now, sale.now); }
  SUBCASE("the operator has ended the room") { sale.room.end_room(true); }
  CHECK_FALSE(sale.room.go_back(id_of(1), sale.now));
  CHECK(sale.room.counts(sale.now).active == 1);

  WaitingRoom open(terms_for(5));
  REQUIRE(open.join(id_of(1), kStart, kStart).session);  // it did not wait
  CHECK_FALSE(open.go_back(id_of(1), kStart));
  CHECK(open.counts(kStart).active == 1);
}

TEST_CASE("it is back at its place after a restart, too, as the user that it was") {
  Sale sale;
  const UserKey ann{{1}};
  Terms terms = sale.room.terms();
  WaitingRoom room(terms);
  room.keep_journal();
  Time now = kStart;
  REQUIRE(room.join(id_of(1), now, now, 0, ann).view);
  room.tick(now += kTick, kHealthy);
  REQUIRE(room.claim(id_of(1), now));
  room.take_changed();
  REQUIRE(room.go_back(id_of(1), now));
  const auto changed = room.take_changed();
  REQUIRE(changed);
  std::vector<Place> places;
  room.look_up(*changed, now, places);
  REQUIRE_FALSE(places.empty());
  CHECK(places.back() == Place{id_of(1), Place::Kind::ticket, kStart, 0, 0, ann});
  CHECK(room.join(id_of(2), now, now, 0, ann).door == WaitingRoom::Door::taken);
}

TEST_CASE("the entry counts for per_minute all the same") {
  Terms terms = terms_for(5, When::always);
  terms.per_minute = 1;
  WaitingRoom room(terms);
  Time now = kStart;
  REQUIRE(room.join(id_of(1), now, now).view);
  room.tick(now += kTick, kHealthy);
  REQUIRE(room.claim(id_of(1), now));
  REQUIRE(room.go_back(id_of(1), now));
  for (int n = 0; n < 590; ++n) room.tick(now += kTick, kHealthy);
  CHECK_FALSE(room.claim(id_of(1), now));
  for (int n = 0; n < 30; ++n) room.tick(now += kTick, kHealthy);
  CHECK(room.claim(id_of(1), now));
}

}  // namespace spillway::waiting
