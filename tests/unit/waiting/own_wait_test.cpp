// How long a ticket said that it waits: what is no part of that, and what keeps it.
#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>

#include "lab.hpp"

namespace spillway::waiting {
namespace {

using State = TicketState;

constexpr Milliseconds kOwnWait{60'000};

Ask ask_for_large(Milliseconds max_wait = kOwnWait) {
  Ask ask = ask_for("gpu", 64);
  ask.max_wait = max_wait;
  return ask;
}

// 1 to 3 are inside, 3 with the large device.
struct FullLab : Lab {
  FullLab() {
    for (std::uint64_t n = 1; n <= 3; ++n) join(n, ask_for("gpu"));
    tick();
    for (std::uint64_t n = 1; n <= 3; ++n) REQUIRE(enter(n));
    REQUIRE(device(3) == "large");
  }
  // Those asking are heard of, and sessions go on.
  void pass(Milliseconds time, std::initializer_list<std::uint64_t> asking) {
    for (const Time until = now + time; now < until;) {
      tick();
      for (const std::uint64_t n : asking) room.hear(id_of(n), now);
      for (const std::uint64_t n : {1, 2, 3}) room.stay(id_of(n), now);
    }
  }
  bool has_ended_of_its_own_wait(std::uint64_t number) {
    const auto end = room.end_of(id_of(number), now);
    return end && end->why == Ended::own_max_wait;
  }
};

// 4 is called, its own wait has passed meanwhile, and its call has not.
struct LateCall : FullLab {
  LateCall() {
    join(4, ask_for_large());
    pass(kOwnWait - Milliseconds(1'000), {4});
    leave(3);
    pass(Milliseconds(5'000), {4});
    REQUIRE(state(4) == State::processing);
    REQUIRE(device(4) == "large");
  }
  bool is_called_again() {
    pass(Milliseconds(1'000), {4});
    return state(4) == State::processing && !device(4).empty();
  }
};

}  // namespace

TEST_CASE("a ticket that the operator has moved ends when it said, neither before nor after") {
  for (const std::size_t ahead : {0, 9}) {
    CAPTURE(ahead);
    FullLab lab;
    lab.join(5, ask_for("gpu", 64));
    lab.pass(Milliseconds(30'000), {5});
    lab.join(4, ask_for_large());
    const Time until = lab.now + kOwnWait;
    lab.pass(Milliseconds(20'000), {4, 5});
    lab.join(6, ask_for("gpu", 64));
    REQUIRE(lab.room.move(id_of(4), ahead) == Moved::moved);
    CHECK(lab.room.peek(id_of(4))->joined != until - kOwnWait);
    while (lab.now + kTick < until) {
      lab.pass(kTick, {4, 5, 6});
      REQUIRE(lab.state(4) == State::waiting);
    }
    lab.pass(2 * kTick, {5, 6});
    CHECK(lab.has_ended_of_its_own_wait(4));
    CHECK(lab.state(5) == State::waiting);
  }
}

TEST_CASE("a ticket without a wait of its own gets none by a move") {
  FullLab lab;
  lab.join(5, ask_for("gpu", 64));
  lab.join(4, ask_for("gpu", 64));
  REQUIRE(lab.room.move(id_of(4), 0) == Moved::moved);
  CHECK(lab.room.peek(id_of(4))->allotment->max_wait == Milliseconds(0));
}

TEST_CASE("a visitor whose call a pause takes back is called again, though its own wait is over") {
  LateCall lab;
  lab.room.pause(true);
  lab.pass(Milliseconds(1'000), {4});
  CHECK(lab.state(4) == State::waiting);
  CHECK(lab.device(4).empty());
  lab.room.pause(false);
  CHECK(lab.is_called_again());
}

TEST_CASE("a visitor that does not ask while entry is paused keeps its ticket for as long") {
  LateCall lab;
  lab.room.pause(true);
  for (const Time until = lab.now + lab.room.terms().claim; lab.now < until;) lab.tick();
  CHECK(lab.state(4) == State::waiting);
  lab.room.pause(false);
  CHECK(lab.is_called_again());
}

TEST_CASE("a visitor that came in to a failure is called again, though its own wait is over") {
  LateCall lab;
  REQUIRE(lab.enter(4));
  REQUIRE(lab.room.go_back(id_of(4), lab.now));
  CHECK(lab.is_called_again());
}

TEST_CASE("a visitor whose call a reload takes back is called again, though its own wait is over") {
  LateCall lab;
  Terms terms = lab_terms();
  std::ranges::reverse(terms.resources.groups);
  lab.room.set_terms(terms, lab.now);
  CHECK(lab.device(4).empty());
  CHECK(lab.is_called_again());
}

TEST_CASE("control: a visitor that misses its call has no more than its own wait") {
  LateCall lab;
  for (const Time until = lab.now + lab.room.terms().claim; lab.now < until;) lab.tick();
  lab.tick();
  CHECK(lab.has_ended_of_its_own_wait(4));
}

TEST_CASE("a reload of times alone takes back no call, and holds for those who join then") {
  LateCall lab;
  Terms terms = lab_terms();
  terms.resources.duration.most = Milliseconds(90'000);
  terms.resources.usual_duration = Milliseconds(90'000);
  terms.resources.own_wait.least = Milliseconds(120'000);
  lab.room.set_terms(terms, lab.now);
  CHECK(lab.state(4) == State::processing);
  CHECK(lab.device(4) == "large");
  CHECK(lab.room.peek(id_of(4))->allotment->duration == kHour);
  CHECK(lab.join(5, ask_for_large()).door == Door::unmet);
  CHECK(lab.join(6, ask_for("gpu", 0, kHour)).door == Door::unmet);
  CHECK(lab.join(7, ask_for("gpu")).view->allotment->duration == Milliseconds(90'000));
}

TEST_CASE("a session that is brought back to a device of another one leaves its ticket") {
  FullLab lab;
  UserKey user;
  user.bytes[0] = 1;
  lab.room.join(id_of(4), lab.now, lab.now, 0, user, ask_for("gpu", 64));
  lab.leave(3);
  lab.tick();
  REQUIRE(lab.device(4) == "large");
  Place place{.id = id_of(4), .kind = Place::Kind::session, .since = lab.now, .user = user};
  place.resource = "small-1";
  lab.room.bring_back({&place, 1}, lab.now);
  CHECK(lab.state(4) == State::waiting);
  CHECK(lab.device(4).empty());
  CHECK(lab.room.held_by(user) == id_of(4));
  lab.pass(Milliseconds(1'000), {4});
  CHECK(lab.device(4) == "large");
  // The control: a device that is free, or its own.
  place.resource = "large";
  lab.room.bring_back({&place, 1}, lab.now);
  CHECK(lab.state(4) == State::fulfilled);
  CHECK(lab.device(4) == "large");
  lab.leave(4);
  CHECK_FALSE(lab.room.held_by(user));
}

}  // namespace spillway::waiting
