// Reservations that were passed over: in which order they are called, and what many of them cost.
#include <doctest/doctest.h>

#include <chrono>
#include <vector>

#include "hall.hpp"

namespace spillway::waiting {
namespace {

// Reservations 2 to 5, of which one is called at a time, for a quarter of an hour. 2 is called.
struct Queue : Hall {
  Queue() : Hall(one_at_a_time()) {
    fill();
    for (std::uint64_t n = 2; n <= 5; ++n) {
      join(n);
      REQUIRE(reserve(n));
    }
    pass(2 * kMinute);  // they are away
    leave(1);
    pass(2 * kMinute);
    REQUIRE(called() == std::vector<std::uint64_t>{2});
  }

  static Terms one_at_a_time() {
    Terms terms = with_reservations();
    terms.reserve.keep = 240 * kMinute;
    terms.expected_stay = 15 * kMinute;
    terms.max_wait = 600 * kMinute;
    return terms;
  }
  std::vector<std::uint64_t> called() const {
    std::vector<std::uint64_t> all;
    for (std::uint64_t n = 2; n <= 5; ++n) {
      if (is_called(n)) all.push_back(n);
    }
    return all;
  }
  void pass_overloaded(Milliseconds time) {
    const Backend overloaded{.is_overloaded = true, .pace = 1};
    for (const Time until = now + time; now < until;) room.tick(now += kTick, overloaded);
  }
  // 2 misses its call, so that 3 is called, and leaves.
  void let_2_miss() {
    pass(15 * kMinute);
    REQUIRE(called() == std::vector<std::uint64_t>{3});
    REQUIRE(room.inspect(id_of(2), now)->missed == 1);
  }
};

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("an overload does not change the order of tickets that have missed calls") {
  Queue queue;
  queue.pass_overloaded(30 * kMinute);
  REQUIRE(queue.room.inspect(id_of(2), queue.now)->missed == 1);
  CHECK(queue.called().empty());
  CHECK(queue.room.counts(queue.now).entry.is_paced);
  queue.pass(kTick);
  CHECK(queue.called() == Numbers{3});
  queue.pass(15 * kMinute);
  CHECK(queue.called() == Numbers{4});
}

TEST_CASE(
    "a ticket that has missed a call stays behind the others when its visitor looks in and goes") {
  Queue queue;
  queue.let_2_miss();
  queue.room.hear(id_of(2), queue.now);
  queue.join(6);
  REQUIRE(queue.reserve(6));
  queue.pass_overloaded(2 * kMinute);  // both are away
  for (std::uint64_t n = 3; n <= 5; ++n) {
    CHECK(queue.called() == Numbers{n});
    queue.leave(n);
    queue.pass(kTick);
  }
  CHECK(queue.is_called(6));
  CHECK_FALSE(queue.is_called(2));
  queue.leave(6);
  queue.pass(kTick);
  CHECK(queue.is_called(2));
}

TEST_CASE("and when the process begins anew, or no visitor could be heard of") {
  for (const bool has_begun_anew : {true, false}) {
    CAPTURE(has_begun_anew);
    Queue queue;
    queue.let_2_miss();
    queue.leave(3);
    if (has_begun_anew) {
      Written written{queue.now, {}};
      for (WaitingRoom::Listing at; queue.room.list(at, written.places);) {
      }
      queue.room = WaitingRoom(Queue::one_at_a_time());
      queue.room.restore(written, queue.now);
    } else {
      queue.room.pardon(queue.now);
    }
    queue.pass(kTick);
    CHECK(queue.called() == Numbers{4});
    queue.leave(4);
    queue.pass(kTick);
    CHECK(queue.called() == Numbers{5});
    queue.leave(5);
    queue.pass(kTick);
    CHECK(queue.called() == Numbers{2});
  }
}

TEST_CASE("one that is passed over may be moved, be heard of, be called by hand and leave") {
  Queue queue;
  REQUIRE(queue.room.move(id_of(5), 1) == Moved::moved);  // 2 5 3 4
  queue.leave(3);
  queue.leave(2);
  queue.pass(kTick);
  CHECK(queue.called() == Numbers{5});
  queue.at_page = {4};
  queue.room.hear(id_of(4), queue.now);
  queue.pass(Milliseconds(2'000));
  CHECK(queue.called() == Numbers{4, 5});
  REQUIRE(queue.enter(4));

  Queue other;
  REQUIRE(std::holds_alternative<TicketId>(other.room.call_one(id_of(4), other.now)));
  CHECK(other.called() == Numbers{2, 4});
  other.leave(2);
  other.leave(4);
  other.pass(kTick);
  CHECK(other.called() == Numbers{3});
}

TEST_CASE("of a hundred thousand that are passed over some are in a tick, and one comes next") {
  constexpr std::uint64_t kMany = 100'000;
  Terms terms = Queue::one_at_a_time();
  terms.max_tickets = 1'000'000;
  terms.max_wait = std::chrono::hours(100'000);
  Hall hall(terms);
  hall.fill();
  for (std::uint64_t n = 2; n < kMany; ++n) {
    REQUIRE(hall.room.join(id_of(n), hall.now, hall.now).view);
    REQUIRE(hall.reserve(n));
  }
  hall.pass(2 * kMinute);  // they are away
  hall.join(kMany);
  hall.at_page = {kMany};
  hall.leave(1);
  const auto present = [&] { return hall.room.counts(hall.now).present; };
  const std::size_t before = present();
  hall.pass(kTick);
  CHECK(before - present() <= 5'000);
  CHECK_FALSE(hall.is_called(kMany));
  hall.pass(Milliseconds(3'000));
  CHECK(present() == 0);
  REQUIRE(hall.is_called(kMany));  // it is not held up for long
  REQUIRE(hall.enter(kMany));
  hall.leave(kMany);
  REQUIRE(hall.is_called(2));
  // Each leaves when it is called. To look at all of them each time would take a minute.
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t n = 2; n < 1'002; ++n) {
    REQUIRE(hall.is_called(n));
    hall.leave(n);
    hall.room.tick(hall.now += kTick, kHealthy);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  MESSAGE("a thousand took " << took.count() << " s");
  CHECK(took.count() < 10);
}

}  // namespace spillway::waiting
