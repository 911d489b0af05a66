// Reservations where resources are handed out, case by case: none is kept for a visitor that is
// away, and none loses its place by that.
#include <doctest/doctest.h>

#include <utility>
#include <variant>
#include <vector>

#include "lab.hpp"

namespace spillway::waiting {
namespace {

// One GPU, and visitors by number; those in `here` ask.
struct OneGpu : Lab {
  explicit OneGpu(std::vector<DeviceGroup> groups = {{"gpu", "one", 0, {}}})
      : Lab(terms_with(std::move(groups))) {}
  static Terms terms_with(std::vector<DeviceGroup> groups) {
    Terms terms = lab_with_reservations();
    terms.resources.groups = std::move(groups);
    return terms;
  }
  void pass(Milliseconds time) {
    for (const Time until = now + time; now < until;) {
      tick();
      for (const std::uint64_t each : here) room.hear(id_of(each), now);
      for (const std::uint64_t each : inside) room.stay(id_of(each), now);
    }
  }
  void come_in(std::uint64_t number) {
    REQUIRE(enter(number));
    inside.push_back(number);
  }
  void go(std::uint64_t number) {
    leave(number);
    std::erase(inside, number);
  }
  void reserve(std::uint64_t number, std::uint32_t memory_gb = 0) {
    REQUIRE(join(number, ask_for("gpu", memory_gb)).view);
    REQUIRE(room.reserve(id_of(number), now)->is_granted);
  }
  bool is_called(std::uint64_t number) { return state(number) == TicketState::processing; }

  std::vector<std::uint64_t> here, inside;
};

}  // namespace

TEST_CASE("no resource is kept for a visitor that is away, and it is first when it comes") {
  OneGpu lab;
  lab.join(1, ask_for("gpu"));
  lab.tick();
  lab.come_in(1);
  lab.reserve(2);
  lab.join(3, ask_for("gpu"));
  lab.join(4, ask_for("gpu"));
  lab.here = {3, 4};
  lab.pass(Milliseconds(5'000));
  lab.go(1);
  lab.pass(kTick);
  CHECK(lab.is_called(2));
  CHECK(lab.device(2).empty());
  CHECK(lab.device(3) == "one");
  lab.here = {4};
  lab.come_in(3);
  lab.pass(Milliseconds(60'000));
  // It comes, and there is none: it waits at its own place, and has missed no call.
  CHECK_FALSE(lab.enter(2));
  CHECK(lab.state(2) == TicketState::waiting);
  CHECK(lab.room.peek(id_of(2))->ahead == 0);
  CHECK(lab.room.inspect(id_of(2), lab.now)->missed == 0);
  lab.here = {2, 4};
  lab.pass(Milliseconds(60'000));
  lab.go(3);
  lab.pass(kTick);
  CHECK(lab.device(2) == "one");
  CHECK_FALSE(lab.is_called(4));
  CHECK(lab.enter(2));
}

TEST_CASE("what nobody at a page waits for is there for the first of the absent that comes") {
  OneGpu lab;
  lab.reserve(1);
  lab.reserve(2);
  lab.pass(kTick);
  REQUIRE(lab.device(1) == "one");  // it was at its page still
  lab.pass(Milliseconds(10'000));
  CHECK(lab.device(1).empty());
  CHECK(lab.is_called(1));
  lab.pass(Milliseconds(60'000));
  CHECK(lab.enter(1));
  CHECK(lab.device(1) == "one");
}

TEST_CASE("a visitor that comes while one before it waits for what is free is not before it") {
  OneGpu lab;
  lab.room.pause(false);
  lab.join(1, ask_for("gpu"));
  lab.tick();
  lab.come_in(1);
  lab.reserve(2);
  lab.join(3, ask_for("gpu"), 1);  // of a higher tier
  lab.here = {3};
  lab.pass(Milliseconds(5'000));
  REQUIRE(std::holds_alternative<NotCalled>(lab.room.call_one(id_of(2), lab.now)));
  lab.go(1);
  REQUIRE(std::holds_alternative<TicketId>(lab.room.call_one(id_of(2), lab.now)));
  CHECK(lab.device(2).empty());
  lab.tick();
  CHECK(lab.device(3) == "one");
  CHECK_FALSE(lab.enter(2));
  CHECK(lab.state(2) == TicketState::waiting);
}

TEST_CASE("reservations that never come keep no resource idle") {
  OneGpu lab({{"gpu", "gpu", 3, {}}});
  for (std::uint64_t number = 1; number <= 100; ++number) lab.reserve(number);
  lab.pass(Milliseconds(5'000));
  std::uint64_t next = 1000;
  int free = 0;
  const auto add = [&] {
    REQUIRE(lab.join(next, ask_for("gpu")).view);
    lab.here.push_back(next++);
  };
  for (int n = 0; n < 6; ++n) add();
  for (int minute = 0; minute < 60; ++minute) {
    lab.pass(Milliseconds(30'000));
    const std::vector<std::uint64_t> here = lab.here;
    for (const std::uint64_t each : here) {
      if (!lab.enter(each)) continue;
      std::erase(lab.here, each);
      lab.inside.push_back(each);
      add();
    }
    free += static_cast<int>(lab.room.stock().free(0));
    if (!lab.inside.empty()) lab.go(lab.inside.front());
  }
  CHECK(free <= 3);  // those of the first half minute
  CHECK(lab.room.counts(lab.now).fulfilled >= 60);
}

TEST_CASE("absent visitors are called by how soon what they ask for is free") {
  OneGpu lab({{"gpu", "small", 9, {{"memory_gb", 1}}}, {"gpu", "large", 0, {{"memory_gb", 64}}}});
  Terms terms = lab.room.terms();
  terms.resources.usual_duration = Milliseconds(900'000);
  lab.room.set_terms(terms, lab.now);
  for (std::uint64_t number = 1; number <= 10; ++number) {
    lab.join(number, ask_for("gpu"));
    lab.tick();
    lab.come_in(number);
  }
  REQUIRE(lab.device(10) == "large");
  for (std::uint64_t number = 11; number <= 30; ++number) lab.reserve(number, number % 2 ? 64 : 1);
  lab.pass(Milliseconds(5'000));
  const auto called = [&](std::uint64_t odd) {
    int count = 0;
    for (std::uint64_t number = 11; number <= 30; ++number)
      count += number % 2 == odd && lab.is_called(number);
    return count;
  };
  lab.go(10);
  lab.pass(Milliseconds(1'000));
  CHECK(called(1) == 1);  // one large one, and one that may come for it
  CHECK(called(0) == 4);  // half of ten that end within the time of a call, with that one
  CHECK(lab.enter(11));
  lab.inside.push_back(11);
  lab.pass(Milliseconds(1'000));
  CHECK(called(1) == 0);  // nothing that is enough is free
  lab.go(11);
  lab.pass(Milliseconds(1'000));
  CHECK(called(1) == 1);  // small ones that are called do not hold it up
  CHECK(called(0) == 4);
}

TEST_CASE("a reservation keeps what it asks for over a restart and a reload") {
  for (const bool restarts : {true, false}) {
    CAPTURE(restarts);
    OneGpu lab({{"gpu", "small", 0, {{"memory_gb", 1}}}, {"gpu", "large", 0, {{"memory_gb", 64}}}});
    lab.join(1, ask_for("gpu", 64));
    lab.tick();
    lab.come_in(1);
    lab.reserve(2, 64);
    lab.pass(Milliseconds(5'000));
    if (restarts) {
      Written written{lab.now, {}};
      for (WaitingRoom::Listing at; lab.room.list(at, written.places);) {
      }
      lab.room = WaitingRoom(lab.room.terms());
      lab.room.restore(written, lab.now);
    } else {
      Terms terms = lab.room.terms();
      terms.resources.groups.push_back({"gpu", "other", 0, {{"memory_gb", 2}}});
      lab.room.set_terms(terms, lab.now);
    }
    lab.pass(Milliseconds(1'000));
    CHECK_FALSE(lab.is_called(2));
    lab.go(1);
    lab.pass(kTick);
    CHECK(lab.is_called(2));
    CHECK(lab.enter(2));
    CHECK(lab.device(2) == "large");
  }
}

}  // namespace spillway::waiting
