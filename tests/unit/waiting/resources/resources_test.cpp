// Devices that are handed out: to whom, for how long, and what becomes of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "config/choices.hpp"
#include "unit/waiting/lab.hpp"
#include "waiting/replica/replica.hpp"

namespace spillway::waiting {
namespace {

using State = TicketState;

// All of them are inside: 1 and 2 with the small devices, 3 with the large one.
void fill(Lab& lab) {
  for (std::uint64_t n = 1; n <= 3; ++n) lab.join(n, ask_for("gpu"));
  lab.tick();
  for (std::uint64_t n = 1; n <= 3; ++n) REQUIRE(lab.enter(n));
}

}  // namespace

TEST_CASE("nobody comes in without a ticket, and the first in line gets the smallest device") {
  Lab lab;
  CHECK(lab.room.arrive(lab.now) == Door::wait);
  fill(lab);
  CHECK(std::set{lab.device(1), lab.device(2)} == std::set<std::string>{"small-1", "small-2"});
  CHECK(lab.device(3) == "large");
}

TEST_CASE("who waits for another type is not ahead, and does not wait for this one") {
  Lab lab;
  fill(lab);
  CHECK(lab.join(4, ask_for("gpu")).view->ahead == 0);
  CHECK(lab.join(5, ask_for("scope")).view->ahead == 0);
  CHECK(lab.join(6, ask_for("gpu")).view->ahead == 1);
  lab.tick();
  CHECK(lab.state(5) == State::processing);
  CHECK(lab.device(5) == "scope");
  CHECK(lab.state(4) == State::waiting);
}

TEST_CASE("nothing that is there meets it: no ticket") {
  Lab lab;
  CHECK(lab.join(1, ask_for("gpu", 65)).door == Door::unmet);
  CHECK(lab.join(2, ask_for("laser")).door == Door::unmet);
  CHECK_FALSE(lab.state(1));
  CHECK(lab.room.counts(lab.now).joined == 0);
}

TEST_CASE("a small device that is free goes past a large ticket, a large one does not") {
  Lab lab;
  fill(lab);
  lab.join(4, ask_for("gpu", 64));
  lab.join(5, ask_for("gpu", 1));
  lab.join(6, ask_for("gpu", 1));
  lab.leave(1);
  lab.tick();
  CHECK(lab.state(4) == State::waiting);
  CHECK(lab.state(5) == State::processing);
  lab.leave(3);
  lab.tick();
  CHECK(lab.device(4) == "large");
  CHECK(lab.state(6) == State::waiting);
}

TEST_CASE("a session ends when the duration is over that it asked for, and another one begins") {
  Lab lab;
  fill(lab);
  lab.leave(3);
  lab.join(4, ask_for("gpu", 64, Milliseconds(60'000)));
  lab.tick();
  REQUIRE(lab.enter(4));
  lab.join(5, ask_for("gpu", 64));
  const Time until = lab.now + Milliseconds(60'000);
  while (lab.now + kTick < until) {
    lab.tick();
    lab.room.hear(id_of(5), lab.now);
    CHECK(lab.state(4) == State::fulfilled);
    lab.room.stay(id_of(4), lab.now);
  }
  lab.tick();
  CHECK_FALSE(lab.state(4));
  CHECK(lab.room.end_of(id_of(4), lab.now)->why == Ended::too_long);
  CHECK(lab.device(5) == "large");
  // It has no pass by which it could come back.
  CHECK(lab.room.use(id_of(4), 1, until, lab.now).use == Use::over);
}

TEST_CASE(
    "a device is kept for a visitor that is called; missed, it goes on, and the place stays") {
  Lab lab;
  fill(lab);
  lab.join(4, ask_for("gpu", 64));
  lab.join(5, ask_for("gpu", 64));
  lab.leave(3);
  lab.tick();
  REQUIRE(lab.state(4) == State::processing);
  const Time called = lab.now;
  while (lab.now < called + lab.room.terms().claim - kTick) {
    lab.tick();
    lab.room.hear(id_of(5), lab.now);
    CHECK(lab.device(4) == "large");
  }
  lab.tick();
  lab.tick();
  CHECK(lab.state(4) == State::waiting);
  CHECK(lab.device(4).empty());
  CHECK(lab.device(5) == "large");
  CHECK(lab.room.hear(id_of(4), lab.now)->ahead == 0);  // its own place
  lab.leave(5);
  lab.tick();
  CHECK(lab.device(4) == "large");
}

TEST_CASE("an entry that failed gives the device back, and is called again to one") {
  Lab lab;
  fill(lab);
  lab.join(4, ask_for("gpu", 64));
  lab.leave(3);
  lab.tick();
  REQUIRE(lab.enter(4));
  REQUIRE(lab.room.go_back(id_of(4), lab.now));
  CHECK(lab.device(4).empty());
  CHECK(lab.state(4) == State::waiting);
  lab.tick();
  CHECK(lab.device(4) == "large");
}

TEST_CASE("a ticket that said how long it waits ends then, unless it is called") {
  Lab lab;
  fill(lab);
  Ask ask = ask_for("gpu", 64);
  ask.max_wait = Milliseconds(60'000);
  lab.join(4, ask);
  lab.join(5, ask_for("gpu", 64));
  CHECK(lab.room.peek(id_of(4))->allotment->max_wait == Milliseconds(60'000));
  const Time until = lab.now + Milliseconds(60'000);
  while (lab.now < until) {
    CHECK(lab.state(4) == State::waiting);
    lab.tick();
    for (const std::uint64_t n : {4, 5}) lab.room.hear(id_of(n), lab.now);
    for (const std::uint64_t n : {1, 2, 3}) lab.room.stay(id_of(n), lab.now);
  }
  lab.tick();
  CHECK_FALSE(lab.state(4));
  CHECK(lab.room.end_of(id_of(4), lab.now)->why == Ended::own_max_wait);
  CHECK(lab.state(5) == State::waiting);
}

TEST_CASE("the room's own cap holds for all types together, and lanes take turns") {
  Terms terms = lab_terms();
  terms.active_sessions = 2;
  Lab lab(terms);
  for (std::uint64_t n = 1; n <= 3; ++n) lab.join(n, ask_for("gpu"));
  lab.join(4, ask_for("scope"));
  lab.tick();
  CHECK(lab.room.counts(lab.now).processing == 2);
  CHECK(lab.state(1) == State::processing);
  CHECK(lab.state(4) == State::processing);
}

TEST_CASE("the operator calls the next of one type, if a device is free") {
  Lab lab;
  lab.room.pause(true);
  for (std::uint64_t n = 1; n <= 3; ++n) lab.join(n, ask_for("gpu"));
  lab.join(4, ask_for("scope"));
  lab.join(5, ask_for("scope"));
  CHECK(std::get<TicketId>(lab.room.call_next(lab.now, "scope")) == id_of(4));
  CHECK(std::get<NotCalled>(lab.room.call_next(lab.now, "scope")) == NotCalled::no_room);
  CHECK(std::get<TicketId>(lab.room.call_next(lab.now)) == id_of(1));
  CHECK(std::get<NotCalled>(lab.room.call_next(lab.now, "none")) == NotCalled::nobody_present);
}

TEST_CASE("the list goes lane by lane, in pages, and one type has a list of its own") {
  Lab lab;
  fill(lab);
  lab.room.pause(true);
  for (std::uint64_t n = 10; n < 20; ++n) lab.join(n, ask_for(n % 2 == 0 ? "gpu" : "scope"));
  std::vector<TicketId> seen;
  std::optional<WaitingRoom::Cursor> after;
  for (;;) {
    const auto page = lab.room.list_line(after, 3, lab.now);
    for (const auto& each : page) seen.push_back(each.id);
    if (page.size() < 3) break;
    const auto& last = page.back();
    after = {last.view.joined, last.id, last.view.priority, last.lane};
  }
  std::vector<TicketId> expected;
  for (const std::uint64_t n : {10, 12, 14, 16, 18, 11, 13, 15, 17, 19})
    expected.push_back(id_of(n));
  CHECK(seen == expected);
  CHECK(lab.room.list_line(std::nullopt, 100, lab.now, std::nullopt, "scope").size() == 5);
}

TEST_CASE("a reload takes a device away: its session keeps it until it ends") {
  Lab lab;
  fill(lab);
  Terms terms = lab_terms();
  terms.resources.groups.erase(terms.resources.groups.begin() + 1);
  lab.join(4, ask_for("gpu", 64));
  lab.join(5, ask_for("gpu", 1));
  lab.room.set_terms(terms, lab.now);
  CHECK(lab.device(3) == "large");
  CHECK_FALSE(lab.state(4));
  CHECK(lab.room.end_of(id_of(4), lab.now)->why == Ended::no_resource);
  lab.leave(3);
  lab.tick();
  CHECK(lab.state(5) == State::waiting);
  lab.leave(1);
  lab.tick();
  CHECK(lab.device(5).starts_with("small-"));
}

TEST_CASE(
    "a reload keeps order, presence and sessions; who is called goes back and is called again") {
  Lab lab;
  for (std::uint64_t n = 1; n <= 6; ++n) lab.join(n, ask_for("gpu"));
  lab.tick();
  REQUIRE(lab.enter(1));
  REQUIRE(lab.state(2) == State::processing);
  const std::string kept = lab.device(1);
  Terms terms = lab_terms();
  std::ranges::reverse(terms.resources.groups);
  terms.resources.groups[2].count = 4;
  lab.room.set_terms(terms, lab.now);
  CHECK(lab.device(1) == kept);
  CHECK(lab.state(2) == State::waiting);
  CHECK(lab.room.peek(id_of(6))->ahead == 4);
  lab.tick();
  for (std::uint64_t n = 2; n <= 5; ++n) CHECK(lab.state(n) == State::processing);
  std::set<std::string> devices;
  for (std::uint64_t n = 1; n <= 5; ++n) devices.insert(lab.device(n));
  CHECK(devices.size() == 5);
}

TEST_CASE("resources come and go with a reload, and all keep their order") {
  Lab lab(terms_for(1));
  lab.room.hold_open(true);
  for (std::uint64_t n = 1; n <= 4; ++n) lab.join(n, {});
  lab.tick();
  REQUIRE(lab.enter(1));
  lab.room.set_terms(lab_terms(), lab.now);
  CHECK(lab.room.has_session(id_of(1)));
  lab.tick();
  for (std::uint64_t n = 2; n <= 4; ++n) CHECK_FALSE(lab.device(n).empty());
  REQUIRE(lab.enter(2));
  lab.room.set_terms(terms_for(2), lab.now);
  CHECK(lab.room.has_session(id_of(2)));
  CHECK(lab.room.peek(id_of(4))->ahead == 1);
  lab.leave(1);
  lab.tick();
  CHECK(lab.state(3) == State::processing);
}

TEST_CASE("after a restart each session has its device, and each ticket what it asks for") {
  Lab before;
  before.room.keep_journal();
  fill(before);
  before.join(4, ask_for("gpu", 64, Milliseconds(60'000)));
  before.join(5, ask_for("scope"));
  before.tick();
  std::vector<Place> places;
  for (WaitingRoom::Listing at; before.room.list(at, places);) {
  }
  Lab after;
  after.now = before.now;
  after.room.restore({before.now, places}, after.now);
  for (std::uint64_t n = 1; n <= 3; ++n) {
    CHECK(after.device(n) == before.device(n));
    CHECK(after.state(n) == State::fulfilled);
  }
  CHECK(after.room.peek(id_of(4))->allotment->duration == Milliseconds(60'000));
  after.leave(3);
  after.tick();
  CHECK(after.device(4) == "large");
  CHECK(after.device(5) == "scope");
}

TEST_CASE("a restart without a device: its session has it, and a ticket that needs it ends") {
  Lab before;
  fill(before);
  before.join(4, ask_for("gpu", 64));
  std::vector<Place> places;
  for (WaitingRoom::Listing at; before.room.list(at, places);) {
  }
  Terms terms = lab_terms();
  terms.resources.groups.erase(terms.resources.groups.begin() + 1);
  Lab after(terms);
  after.room.restore({before.now, places}, before.now);
  CHECK(after.device(3) == "large");
  CHECK_FALSE(after.state(4));
  CHECK(after.room.end_of(id_of(4), before.now)->why == Ended::no_resource);
}

TEST_CASE("a visitor whose entry was not written down has its device again, or is over") {
  Lab before;
  before.join(1, ask_for("gpu", 64));
  std::vector<Place> places;
  for (WaitingRoom::Listing at; before.room.list(at, places);) {
  }
  before.tick();
  REQUIRE(before.enter(1));
  const Time until = before.now - Milliseconds(200);
  Lab after;
  after.now = before.now + Milliseconds(1000);
  after.room.restore({until, places}, after.now);
  CHECK(after.room.use(id_of(1), 1, before.now, after.now).use == Use::renewed);
  CHECK(after.device(1) == "large");
  // Nothing is known of it, so nothing is given to it.
  CHECK(after.room.use(id_of(2), 1, before.now, after.now).use == Use::over);
}

TEST_CASE("a ticket that was not written down joins again with what it asks for") {
  Lab after;
  const Catalog& catalog = after.room.stock().catalog();
  const auto understood = catalog.understand(ask_for("gpu", 64));
  const CarriedWish wish{catalog.fingerprint(), std::get<Wish>(understood)};
  after.now += Milliseconds(1000);
  after.room.restore({kStart, {}}, after.now);
  after.room.recover(id_of(1), kStart, after.now, 0, {}, wish);
  after.tick();
  CHECK(after.device(1) == "large");
  // Of other names nothing is known.
  after.room.recover(id_of(2), kStart, after.now, 0, {},
                     CarriedWish{wish.fingerprint + 1, wish.wish});
  CHECK_FALSE(after.state(2));
  after.room.recover(id_of(3), kStart, after.now);
  CHECK_FALSE(after.state(3));
}

TEST_CASE("what is told of a place: its type, its device, how long") {
  Lab lab;
  lab.join(1, ask_for("gpu", 64, Milliseconds(60'000)));
  lab.tick();
  const auto called = lab.room.peek(id_of(1));
  CHECK(called->allotment->type == "gpu");
  CHECK(called->allotment->resource == "large");
  REQUIRE(lab.enter(1));
  const auto inside = lab.room.hear(id_of(1), lab.now);
  CHECK(inside->allotment->until == lab.now + Milliseconds(60'000));
  const Counts counts = lab.room.counts(lab.now);
  REQUIRE(counts.types.size() == 2);
  CHECK(counts.types[0].in_use == 1);
  CHECK(counts.types[0].free == 2);
  CHECK(counts.types[0].fulfilled == 1);
  CHECK(counts.types[1].free == 1);
}

TEST_CASE("events say the type, and the device of a visitor that is called or inside") {
  Lab lab;
  EventSet all{};
  all.fill(true);
  lab.room.want_events(all);
  lab.join(1, ask_for("scope"));
  lab.tick();
  REQUIRE(lab.enter(1));
  std::vector<std::string> seen;
  for (const TicketEvent& each : lab.room.take_events(10))
    seen.push_back(std::string(config::name(each.event)) + " " + each.type + " " + each.resource);
  CHECK(seen ==
        std::vector<std::string>{"joined scope ", "called scope scope", "fulfilled scope scope"});
}

TEST_CASE("a replica that is written and read back hands out the same devices") {
  Replica one(lab_terms());
  Replica other;
  std::uint64_t number = 0;
  const auto entry = [&](std::vector<Command> commands) {
    LogEntry made{.proxy = id_of(1), .number = ++number};
    made.commands = std::move(commands);
    return made;
  };
  const auto join = [&](std::uint64_t n, Time at, const Ask& ask) {
    return Command(Join{{Token{TokenKind::stamp, id_of(n), 0, at}}, ask});
  };
  Time now = kStart;
  one.apply(entry({join(1, now, ask_for("gpu", 64)), join(2, now, ask_for("gpu", 64)),
                   join(3, now, ask_for("scope"))}),
            now);
  REQUIRE(other.restore(one.archive()));
  CHECK(other.archive() == one.archive());
  for (int n = 0; n < 50; ++n) {
    now += kTick;
    const LogEntry next = entry({Claim{{Token{TokenKind::ticket, id_of(n % 3 + 1), 0, kStart}}}});
    one.apply(next, now);
    other.apply(*read_entry(to_bytes(next)), now);
  }
  CHECK(other.archive() == one.archive());
  CHECK(one.room().resource_of(id_of(1)) == "large");
  CHECK(one.room().resource_of(id_of(2)).empty());
  CHECK(one.room().resource_of(id_of(3)) == "scope");
}

}  // namespace spillway::waiting
