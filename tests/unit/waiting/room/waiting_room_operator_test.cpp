// What the operator decides, and what programs ask.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/waiting/crowd.hpp"
#include "waiting/room/waiting_room.hpp"

namespace spillway::waiting {
namespace {

using Door = WaitingRoom::Door;

// A waiting room whose visitors ask as often as they are told.
struct Desk {
  explicit Desk(const Terms& terms) : room(terms) {}

  void pass(Milliseconds time) {
    for (const Time until = now + time; now < until;) {
      room.tick(now += kTick, kHealthy);
      if (++ticks % 50 == 0) {
        for (const std::uint64_t number : asking) room.hear(id_of(number), now);
      }
    }
  }
  void join(std::uint64_t number) {
    REQUIRE(room.join(id_of(number), now, now).door == Door::wait);
    asking.push_back(number);
    now += Milliseconds(1);
  }
  TicketState state(std::uint64_t number) { return room.hear(id_of(number), now)->state; }
  bool claim(std::uint64_t number) { return room.claim(id_of(number), now).has_value(); }
  bool call_next(std::uint64_t number) {
    const auto called = room.call_next(now);
    const auto* const id = std::get_if<TicketId>(&called);
    return id != nullptr && *id == id_of(number);
  }
  NotCalled not_called() { return std::get<NotCalled>(room.call_next(now)); }
  std::vector<std::size_t> places(const std::vector<std::uint64_t>& numbers) const {
    std::vector<std::size_t> all;
    for (const std::uint64_t number : numbers)
      all.push_back(room.inspect(id_of(number), now)->view.ahead);
    return all;
  }

  WaitingRoom room;
  Time now = kStart;
  int ticks = 0;
  std::vector<std::uint64_t> asking;
};

Terms with_a_long_line() {
  Terms terms = terms_for(1, When::always);
  terms.max_wait = std::chrono::hours(1000);
  return terms;
}

}  // namespace

TEST_CASE("an open waiting room has visitors wait, a closed one goes by its configuration") {
  Desk desk(terms_for(10));
  CHECK(desk.room.arrive(desk.now) == Door::enter);
  desk.room.hold_open(true);
  CHECK(desk.room.arrive(desk.now) == Door::wait);
  desk.join(1);
  desk.pass(kTick);
  CHECK(desk.claim(1));  // it is called at once
  desk.room.set_terms(terms_for(11), desk.now);
  CHECK(desk.room.arrive(desk.now) == Door::wait);  // a reload changes nothing
  desk.room.hold_open(false);
  desk.pass(Milliseconds(27'000));  // the stamps are void by then
  CHECK(desk.room.arrive(desk.now) == Door::enter);
}

TEST_CASE("while entry is paused nobody is called, and who was called goes back to its place") {
  Desk desk(terms_for(2, When::always));
  for (std::uint64_t n = 1; n <= 4; ++n) desk.join(n);
  desk.pass(kTick);
  REQUIRE(desk.state(1) == TicketState::processing);
  REQUIRE(desk.state(2) == TicketState::processing);
  REQUIRE(desk.claim(2));
  desk.room.pause(true);
  CHECK(desk.room.inspect(id_of(1), desk.now)->view.state == TicketState::waiting);
  CHECK_FALSE(desk.claim(1));
  CHECK(desk.state(1) == TicketState::waiting);
  CHECK(desk.room.arrive(desk.now) == Door::wait);
  desk.pass(Milliseconds(600'000));
  CHECK(desk.room.counts(desk.now).called == 2);
  CHECK(desk.room.counts(desk.now).waiting == 3);
  CHECK(desk.room.inspect(id_of(1), desk.now)->missed == 0);
  CHECK(desk.places({1, 3, 4}) == std::vector<std::size_t>{0, 1, 2});
  desk.room.pause(false);
  desk.pass(kTick);
  CHECK(desk.state(1) == TicketState::processing);
  CHECK(desk.claim(1));
}

TEST_CASE("a pause does not spoil the estimate, and none is shown meanwhile") {
  Terms terms = terms_for(10, When::always);
  terms.idle = Milliseconds(20'000);
  Desk desk(terms);
  for (std::uint64_t n = 1; n <= 200; ++n) desk.join(n);
  for (int n = 0; n < 1200; ++n) {
    desk.pass(kTick);
    for (std::uint64_t number = 1; number <= 100; ++number) {
      const auto report = desk.room.inspect(id_of(number), desk.now);
      if (report && report->view.state == TicketState::processing) desk.claim(number);
    }
  }
  const auto before = desk.room.inspect(id_of(200), desk.now)->view.estimate;
  REQUIRE(before);
  desk.room.pause(true);
  CHECK_FALSE(desk.room.inspect(id_of(200), desk.now)->view.estimate);
  desk.pass(Milliseconds(300'000));
  desk.room.pause(false);
  const auto after = desk.room.inspect(id_of(200), desk.now)->view.estimate;
  REQUIRE(after);
  CHECK(after->p90 < before->p90 * 2);
}

TEST_CASE("the operator calls beyond the pace and while paused, but no more than there is room") {
  Desk desk(terms_for(2, When::always));
  desk.room.pause(true);
  CHECK(desk.not_called() == NotCalled::nobody_present);
  for (std::uint64_t n = 1; n <= 4; ++n) desk.join(n);
  CHECK(desk.call_next(1));
  CHECK(desk.call_next(2));
  CHECK(desk.not_called() == NotCalled::no_room);
  desk.pass(Milliseconds(1000));
  CHECK(desk.claim(1));  // it was called by hand
  CHECK(desk.claim(2));
  CHECK(desk.room.counts(desk.now).active == 2);
  CHECK(desk.not_called() == NotCalled::no_room);
  REQUIRE(desk.room.cancel(id_of(1), desk.now));
  CHECK(desk.call_next(3));
  CHECK(desk.claim(3));
  CHECK_FALSE(desk.claim(4));
}

TEST_CASE("where calls are stopped, one by hand is taken back as well") {
  Desk desk(terms_for(2, When::always));
  for (std::uint64_t n = 1; n <= 3; ++n) desk.join(n);
  REQUIRE(desk.call_next(1));
  desk.pass(Milliseconds(200));
  REQUIRE(desk.state(2) == TicketState::processing);
  desk.room.stop_calls();
  CHECK_FALSE(desk.claim(1));
  CHECK_FALSE(desk.claim(2));
  CHECK(desk.places({1, 2, 3}) == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("who was called by hand and does not come holds up no further call") {
  Desk desk(terms_for(1, When::always));
  desk.room.pause(true);
  desk.join(1);
  desk.join(2);
  REQUIRE(desk.call_next(1));
  CHECK(desk.not_called() == NotCalled::no_room);
  desk.asking = {2};
  desk.pass(Milliseconds(20'000));
  CHECK(desk.call_next(2));
  CHECK(desk.claim(2));
  CHECK_FALSE(desk.claim(1));  // the cap holds
  CHECK(desk.room.counts(desk.now).active == 1);
}

TEST_CASE("a ticket is moved to the front, to a place, and to the end") {
  Desk desk(terms_for(1, When::always));
  desk.room.pause(true);
  for (std::uint64_t n = 1; n <= 5; ++n) desk.join(n);
  const auto move = [&](std::uint64_t number, std::size_t ahead) {
    return desk.room.move(id_of(number), ahead);
  };
  CHECK(move(5, 0) == Moved::moved);
  CHECK(desk.places({5, 1, 2, 3, 4}) == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(move(5, 2) == Moved::moved);
  CHECK(desk.places({1, 2, 5, 3, 4}) == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(move(1, 1'000'000) == Moved::moved);
  CHECK(desk.places({2, 5, 3, 4, 1}) == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(move(4, 3) == Moved::moved);  // where it is
  CHECK(desk.places({2, 5, 3, 4, 1}) == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(move(9, 0) == Moved::unknown);
  CHECK(desk.call_next(2));
  CHECK(move(2, 3) == Moved::called);
  // Who joins later is behind all of them.
  desk.join(6);
  CHECK(desk.places({6}) == std::vector<std::size_t>{5});
  Desk alone(terms_for(1, When::always));
  alone.room.pause(true);
  alone.join(1);
  CHECK(alone.room.move(id_of(1), 7) == Moved::moved);
  CHECK(alone.places({1}) == std::vector<std::size_t>{0});
}

TEST_CASE("a moved ticket that was away stays away") {
  Desk desk(terms_for(1, When::always));
  desk.room.pause(true);
  desk.join(1);
  desk.join(2);
  desk.asking = {1};
  desk.pass(Milliseconds(100'000));
  REQUIRE_FALSE(desk.room.inspect(id_of(2), desk.now)->is_present);
  CHECK(desk.room.move(id_of(2), 0) == Moved::moved);
  CHECK_FALSE(desk.room.inspect(id_of(2), desk.now)->is_present);
  CHECK(desk.call_next(1));
}

TEST_CASE("when the room has ended all tickets end with that cause, and sessions go on") {
  Desk desk(with_a_long_line());
  desk.join(1);
  desk.pass(kTick);
  REQUIRE(desk.claim(1));
  for (std::uint64_t n = 2; n <= 9000; ++n) desk.room.join(id_of(n), desk.now, desk.now);
  desk.room.end_room(true);
  // At once for whoever asks, though not all are swept up in a tick.
  CHECK_FALSE(desk.room.hear(id_of(9), desk.now));
  CHECK_FALSE(desk.room.claim(id_of(9), desk.now));
  CHECK_FALSE(desk.room.inspect(id_of(9), desk.now));
  CHECK(desk.room.arrive(desk.now) == Door::ended);
  CHECK(desk.room.ask_for_ticket(desk.now) == Door::ended);
  CHECK(desk.room.join(id_of(9), desk.now, desk.now).door == Door::ended);
  CHECK(desk.not_called() == NotCalled::room_ended);
  desk.pass(Milliseconds(500));
  const Counts counts = desk.room.counts(desk.now);
  CHECK(counts.waiting == 0);
  CHECK(counts.processing == 0);
  CHECK(counts.tickets_ended[static_cast<std::size_t>(Ended::room_ended)] == 8999);
  CHECK(counts.active == 1);
  CHECK(desk.claim(1));
  desk.room.end_room(false);
  desk.join(10'000);
  CHECK(desk.places({10'000}) == std::vector<std::size_t>{0});
}

TEST_CASE("an end that is taken back revives nobody, also of those the sweep had not come to") {
  Desk desk(with_a_long_line());
  desk.room.pause(true);
  for (std::uint64_t n = 1; n <= 9000; ++n) desk.room.join(id_of(n), desk.now, desk.now);
  desk.room.end_room(true);
  desk.pass(kTick);
  REQUIRE(desk.room.counts(desk.now).waiting > 0);  // the sweep goes on
  desk.room.end_room(false);
  CHECK(desk.room.counts(desk.now).waiting == 0);
  for (const std::uint64_t n : {1, 5000, 9000}) CHECK_FALSE(desk.room.hear(id_of(n), desk.now));
  CHECK(desk.room.counts(desk.now).tickets_ended[static_cast<std::size_t>(Ended::room_ended)] ==
        9000);
  desk.join(10'000);
  CHECK(desk.places({10'000}) == std::vector<std::size_t>{0});
}

TEST_CASE("the line is listed in order, page by page, also when the last of a page has ended") {
  Desk desk(terms_for(1, When::always));
  desk.room.pause(true);
  for (std::uint64_t n = 1; n <= 10; ++n) desk.join(n);
  std::vector<TicketId> seen;
  std::optional<WaitingRoom::Cursor> after;
  for (;;) {
    const auto page = desk.room.list_line(after, 3, desk.now);
    for (const WaitingRoom::Report& each : page) seen.push_back(each.id);
    if (page.size() < 3) break;
    after = {page.back().view.joined, page.back().id};
    desk.room.cancel(after->id, desk.now);
  }
  CHECK(seen.size() == 10);
  for (std::uint64_t n = 1; n <= 10; ++n) CHECK(seen[n - 1] == id_of(n));
}

TEST_CASE("sessions are listed, and what is looked at has not been heard of") {
  Desk desk(terms_for(3, When::always));
  for (std::uint64_t n = 1; n <= 4; ++n) desk.join(n);
  desk.pass(kTick);
  for (std::uint64_t n = 1; n <= 3; ++n) REQUIRE(desk.claim(n));
  Slot at = 0;
  CHECK(desk.room.list_sessions(at, 2).size() == 2);
  CHECK(desk.room.has_sessions_from(at));
  CHECK(desk.room.list_sessions(at, 2).size() == 1);
  CHECK_FALSE(desk.room.has_sessions_from(at));
  CHECK(desk.room.inspect(id_of(1), desk.now)->view.state == TicketState::fulfilled);
  desk.asking.clear();
  for (int n = 0; n < 400; ++n) {
    desk.room.inspect(id_of(4), desk.now);
    desk.pass(Milliseconds(1000));
  }
  CHECK_FALSE(desk.room.inspect(id_of(4), desk.now));  // abandoned
}

TEST_CASE("what the operator ends is counted apart, and the waits of those who came in add up") {
  Desk desk(terms_for(1, When::always));
  desk.join(1);
  desk.join(2);
  desk.pass(Milliseconds(5000));
  REQUIRE(desk.claim(1));
  CHECK(desk.room.cancel(id_of(2), desk.now, Ended::removed));
  CHECK(desk.room.cancel(id_of(1), desk.now, Ended::removed));
  const Counts counts = desk.room.counts(desk.now);
  CHECK(counts.tickets_ended[static_cast<std::size_t>(Ended::removed)] == 1);
  CHECK(counts.sessions_ended[static_cast<std::size_t>(Ended::removed)] == 1);
  CHECK(counts.fulfilled == 1);
  CHECK(counts.waited >= Milliseconds(5000));
  CHECK(counts.waited < Milliseconds(5200));
}

TEST_CASE("asking for a ticket stores nothing, and opens no closed waiting room") {
  Desk desk(terms_for(1));
  for (int n = 0; n < 1000; ++n) CHECK(desk.room.ask_for_ticket(desk.now) == Door::wait);
  CHECK_FALSE(desk.room.counts(desk.now).entry.is_open);
  CHECK(desk.room.counts(desk.now).provisional == 0);
  CHECK(desk.room.arrive(desk.now) == Door::enter);
}

TEST_CASE("the id of a ticket is read as it is written, and nothing else is") {
  CHECK(parse_ticket_id(to_text(id_of(7))) == id_of(7));
  const std::string text = to_text(id_of(7));
  CHECK_FALSE(parse_ticket_id(text.substr(1)));
  CHECK_FALSE(parse_ticket_id(text + "0"));
  CHECK_FALSE(parse_ticket_id("g" + text.substr(1)));
  CHECK_FALSE(parse_ticket_id("A" + text.substr(1)));
  CHECK_FALSE(parse_ticket_id(""));
}

}  // namespace spillway::waiting
