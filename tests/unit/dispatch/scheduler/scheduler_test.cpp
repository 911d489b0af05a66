// Slots, queue capacity and turns. Time in the queue has its own file.
#include "dispatch/scheduler/scheduler.hpp"

#include <doctest/doctest.h>

#include <array>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "unit/dispatch/desk.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;
using Kind = Offer::Kind;

TEST_CASE("a free slot is granted at once and the next one waits") {
  Desk desk;
  Waiter& first = desk.arrive(kP1);
  CHECK(desk.last.kind == Kind::granted);
  CHECK(first.state == Waiter::State::granted);
  Waiter& second = desk.arrive(kP1);
  CHECK(desk.last.kind == Kind::queued);
  CHECK(second.state == Waiter::State::queued);
  desk.pass(7ms);
  CHECK(desk.release(kP1) == &second);
  CHECK(second.state == Waiter::State::granted);
  CHECK(second.waited == 7ms);
  CHECK(desk.release(kP1) == nullptr);
  CHECK(desk->running() == 0);
  const ClassTotals& totals = desk->totals(kP1);
  CHECK(totals.enqueued == 1);
  CHECK(totals.started == 2);
  CHECK(totals.wait_sum == 7ms);
  CHECK(totals.wait_max == 7ms);
}

TEST_CASE("of 50 P0 and 50 P2 on one slot at least 15 of the first 20 are P0") {
  const auto top_of_twenty = [](double top_weight) {
    Desk desk;
    desk.classes[0].weight = top_weight;
    desk.arrive(kP1);
    for (int i = 0; i < 50; ++i) {
      desk.arrive(kP2);
      desk.arrive(kP0);
    }
    int top = 0;
    ClassId running = kP1;
    for (int i = 0; i < 20; ++i) {
      running = desk.release(running)->traffic_class;
      top += running == kP0 ? 1 : 0;
    }
    return top;
  };
  CHECK(top_of_twenty(8) >= 15);
  CHECK(top_of_twenty(8) < 20);
  CHECK(top_of_twenty(1) == 10);  // equal weights give it no precedence
}

TEST_CASE("with endless P0 ten P2 are through within 200 turns") {
  const auto low_of_200 = [](double top_weight) {
    Desk desk;
    desk.classes[0].weight = top_weight;
    for (int i = 0; i < 21; ++i) desk.arrive(kP0);
    for (int i = 0; i < 10; ++i) desk.arrive(kP2);
    int low = 0;
    ClassId running = kP0;
    for (int i = 0; i < 200; ++i) {
      desk.arrive(kP0);
      running = desk.release(running)->traffic_class;
      low += running == kP2 ? 1 : 0;
    }
    return low;
  };
  CHECK(low_of_200(8) == 10);
  CHECK(low_of_200(1e6) <= 1);  // what strict priority would do
}

TEST_CASE("backlogged classes are served by weight within two percent") {
  Desk desk(4);
  std::array<int, 3> served{};
  for (int i = 0; i < 4; ++i) desk.arrive(kP2);
  for (int i = 0; i < 20; ++i)
    for (const ClassId id : {kP0, kP1, kP2}) desk.arrive(id);
  std::array<int, 3> running{0, 0, 4};
  Random random(2);
  for (int i = 0; i < 10000; ++i) {
    std::size_t back = random.next() % 3;
    while (running[back] == 0) back = (back + 1) % 3;
    --running[back];
    const ClassId id = desk.release(static_cast<ClassId>(back))->traffic_class;
    ++running[index(id)];
    ++served[index(id)];
    desk.arrive(id);
  }
  CHECK(served[0] == doctest::Approx(10000 * 8 / 12.0).epsilon(0.02));
  CHECK(served[1] == doctest::Approx(10000 * 3 / 12.0).epsilon(0.02));
  CHECK(served[2] == doctest::Approx(10000 * 1 / 12.0).epsilon(0.02));
}

TEST_CASE("the egress weight overrides the weight") {
  Desk desk;
  desk.classes[2].egress_weight = 100;
  CHECK(desk->weight(kP2) == 100);
  CHECK(desk->weight(kP0) == 8);
}

TEST_CASE("five arrivals at a queue of two make three queue full") {
  Desk desk;
  desk.classes[1].max_queue = 2;
  desk.arrive(kP1);
  int queued = 0, full = 0;
  for (int i = 0; i < 5; ++i) {
    desk.arrive(kP1);
    queued += desk.last.kind == Kind::queued ? 1 : 0;
    full += desk.last.kind == Kind::refused && desk.last.reason == Reason::queue_full ? 1 : 0;
  }
  CHECK(queued == 2);
  CHECK(full == 3);
  CHECK(desk->totals(kP1).queue_full == 3);
  CHECK(desk->queued(kP1) == 2);
}

TEST_CASE("a higher class evicts the youngest of the lowest evictable class") {
  Desk desk;
  for (auto& c : desk.classes) c.max_queue = 2;
  desk.arrive(kP0);
  std::vector<Waiter*> p1, p2;
  for (int i = 0; i < 2; ++i) p1.push_back(&desk.arrive(kP1));
  for (int i = 0; i < 2; ++i) p2.push_back(&desk.arrive(kP2));
  for (int i = 0; i < 2; ++i) desk.arrive(kP0);

  std::vector<Waiter*> evicted;
  for (int i = 0; i < 4; ++i) {
    desk.arrive(kP0);
    CHECK(desk.last.kind == Kind::queued);
    REQUIRE(desk.last.evicted != nullptr);
    CHECK(desk.last.evicted->state == Waiter::State::evicted);
    CHECK(desk.last.evicted->reason == Reason::evicted);
    evicted.push_back(desk.last.evicted);
    CHECK(desk->queued() == 6);
  }
  CHECK(evicted == std::vector<Waiter*>{p2[1], p2[0], p1[1], p1[0]});
  desk.arrive(kP0);  // the highest class is refused when nothing is left to evict
  CHECK(desk.last.kind == Kind::refused);
  CHECK(desk.last.reason == Reason::queue_full);
  CHECK(desk->totals(kP2).evicted == 2);
  CHECK(desk->totals(kP1).evicted == 2);
}

TEST_CASE("no class evicts from its own or a higher one or one not listed") {
  Desk desk;
  for (auto& c : desk.classes) c.max_queue = 1;
  desk.settings.evict = {kP1};
  desk.arrive(kP0);
  desk.arrive(kP0);
  desk.arrive(kP1);
  desk.arrive(kP2);
  desk.arrive(kP1);
  CHECK(desk.last.reason == Reason::queue_full);  // P2 is not listed
  desk.arrive(kP2);
  CHECK(desk.last.reason == Reason::queue_full);
  desk.arrive(kP0);
  CHECK(desk.last.evicted->traffic_class == kP1);
}

TEST_CASE("queue capacity lent to a higher class is missing below until it is returned") {
  Desk desk;
  for (auto& c : desk.classes) c.max_queue = 2;
  desk.settings.evict = {kP2};
  desk.arrive(kP0);
  for (int i = 0; i < 2; ++i) desk.arrive(kP2);
  for (int i = 0; i < 3; ++i) desk.arrive(kP0);
  CHECK(desk.last.evicted != nullptr);
  CHECK(desk->queued(kP0) == 3);
  for (int i = 0; i < 2; ++i) desk.arrive(kP1);
  CHECK(desk.last.kind == Kind::queued);
  desk.arrive(kP2);  // its second queue entry is lent: six wait already
  CHECK(desk.last.reason == Reason::queue_full);
  CHECK(desk->queued() == 6);
  CHECK(desk.release(kP0)->traffic_class == kP0);
  desk.arrive(kP2);
  CHECK(desk.last.kind == Kind::queued);
  CHECK(desk->queued() == 6);
}

TEST_CASE("a waiter cancelled in the middle is skipped and frees its queue entry") {
  Desk desk;
  desk.classes[1].max_queue = 3;
  Waiter& running = desk.arrive(kP1);
  Waiter& first = desk.arrive(kP1);
  Waiter& middle = desk.arrive(kP1);
  Waiter& last = desk.arrive(kP1);
  CHECK(desk->cancel(middle, desk.now));
  CHECK(middle.state == Waiter::State::idle);
  CHECK_FALSE(desk->cancel(middle, desk.now));
  CHECK_FALSE(desk->cancel(running, desk.now));  // granted: it must be released instead
  CHECK(desk->totals(kP1).cancelled == 1);
  desk.arrive(kP1);
  CHECK(desk.last.kind == Kind::queued);
  CHECK(desk.release(kP1) == &first);
  CHECK(desk.release(kP1) == &last);
}

TEST_CASE("slots in use are told apart by whether they are reserved for their class") {
  Desk desk(5);
  desk.classes[0].reserved = 2;
  CHECK(desk->reserved() == 2);
  const auto second = [&] {
    const double all = desk->busy_slot_seconds(desk.now);
    const double shared = desk->shared_slot_seconds(desk.now);
    desk.pass(1s);
    return std::pair(desk->busy_slot_seconds(desk.now) - all,
                     desk->shared_slot_seconds(desk.now) - shared);
  };
  for (int i = 0; i < 3; ++i) desk.arrive(kP1);
  CHECK(second() == std::pair(3.0, 3.0));
  desk.arrive(kP0);
  CHECK(second() == std::pair(4.0, 3.0));
  desk.release(kP1);
  desk.arrive(kP0);
  desk.arrive(kP0);  // beyond its own
  CHECK(second() == std::pair(5.0, 3.0));
  desk.release(kP0);
  CHECK(second() == std::pair(4.0, 2.0));
}

TEST_CASE("a free slot that is reserved for its class does not lengthen the others' wait") {
  for (const std::uint32_t reserved : {0u, 1u}) {
    CAPTURE(reserved);
    Desk desk(2);
    desk.classes[0].reserved = reserved;
    desk.classes[1].max_queue = desk.classes[2].max_queue = 1;
    desk.classes[2].max_inflight = 1;
    desk.arrive(kP2);
    desk.arrive(kP2);
    for (int i = 0; i < 100; ++i) {
      desk.arrive(kP2);  // refused: its queue is full
      desk.pass(100ms);
    }
    // Without it the slot idles, and a longer wait might fill it.
    CHECK((desk->target_wait().idle_share().value() > 0.4) == (reserved == 0));
  }
}

TEST_CASE("reserved slots stay free for their class while others fill the rest") {
  Desk desk(4);
  desk.classes[0].reserved = 2;
  for (int i = 0; i < 10; ++i) desk.arrive(kP2);
  CHECK(desk->running(kP2) == 2);
  desk.arrive(kP0);
  CHECK(desk.last.kind == Kind::granted);
  desk.arrive(kP0);
  CHECK(desk.last.kind == Kind::granted);
  desk.arrive(kP0);
  CHECK(desk.last.kind == Kind::queued);
  CHECK(desk->running() == 4);
  // A P0 slot given back goes to P0 although P2 has waited for longer.
  CHECK(desk.release(kP0)->traffic_class == kP0);
  CHECK(desk.release(kP0) == nullptr);
  CHECK(desk.release(kP2)->traffic_class == kP2);
  CHECK(desk->running(kP2) == 2);
}

TEST_CASE("a class never runs beyond its own cap and the others take the rest") {
  Desk desk(4);
  desk.classes[2].max_inflight = 1;
  desk.arrive(kP2);
  desk.arrive(kP2);
  CHECK(desk.last.kind == Kind::queued);
  for (int i = 0; i < 3; ++i) {
    desk.arrive(kP1);
    CHECK(desk.last.kind == Kind::granted);
  }
  desk.arrive(kP1);
  CHECK(desk.release(kP1)->traffic_class == kP1);
  CHECK(desk.release(kP1) == nullptr);
  CHECK(desk.release(kP2)->traffic_class == kP2);
}

TEST_CASE("busy slot seconds are the integral of running slots") {
  Desk desk(2);
  desk.arrive(kP0);
  desk.pass(1s);
  desk.arrive(kP0);
  desk.pass(2s);
  CHECK(desk->busy_slot_seconds(desk.now) == doctest::Approx(5));
  desk.release(kP0);
  desk.release(kP0);
  desk.pass(10s);
  CHECK(desk->busy_slot_seconds(desk.now) == doctest::Approx(5));
}

TEST_CASE("a reading of the clock older than the last is taken for the last") {
  Desk desk;
  desk.arrive(kP0);
  Waiter& waiter = desk.arrive(kP0);
  desk.pass(-5ms);
  CHECK(desk.release(kP0) == &waiter);
  CHECK(waiter.waited == 0ms);
  CHECK(desk->busy_slot_seconds(desk.now) == 0);
}

TEST_CASE("the oldest wait of a class shows starvation") {
  Desk desk;
  CHECK(desk->oldest_wait(kP2, desk.now) == 0ms);
  desk.arrive(kP0);
  desk.arrive(kP2);
  desk.pass(30ms);
  desk.arrive(kP2);
  desk.pass(10ms);
  CHECK(desk->oldest_wait(kP2, desk.now) == 40ms);
  CHECK(desk->oldest_wait(kP1, desk.now) == 0ms);
}

TEST_CASE("background work takes a slot without waiters or none and is not counted") {
  Desk desk(2);
  Terms background;
  background.in_background = true;
  Waiter& first = desk.arrive(kP2, background);
  CHECK(desk.last.kind == Kind::granted);
  CHECK(first.state == Waiter::State::granted);
  CHECK(desk->running() == 1);
  desk.arrive(kP0);
  desk.arrive(kP2, background);
  CHECK(desk.last.kind == Kind::refused);
  CHECK(desk.last.reason == Reason::none);
  CHECK(desk->queued() == 0);
  Waiter& client = desk.arrive(kP1);
  CHECK(desk.last.kind == Kind::queued);
  CHECK(desk.release(kP2) == &client);
  CHECK(desk->totals(kP2).started == 0);
  CHECK(desk->totals(kP2).enqueued == 0);
}

TEST_CASE("background work does not overtake a waiter for a lane of its own") {
  Desk desk(3);
  desk.classes[0].max_inflight = 1;
  desk.arrive(kP0);
  desk.arrive(kP0);
  CHECK(desk->queued() == 1);
  CHECK(desk->running() == 1);
  Terms background;
  background.in_background = true;
  desk.arrive(kP2, background);
  CHECK(desk.last.kind == Kind::refused);
}

TEST_CASE("slots held elsewhere are not granted here") {
  Desk desk(3);
  desk.arrive(kP1);
  desk->share_slots(3, 1, Scheduler::Reserved::kept);
  desk.arrive(kP1);
  CHECK(desk.last.kind == Kind::granted);
  Waiter& third = desk.arrive(kP1);
  CHECK(desk.last.kind == Kind::queued);
  CHECK(desk->next(desk.now) == nullptr);
  desk->share_slots(3, 0, Scheduler::Reserved::kept);
  CHECK(desk->next(desk.now) == &third);
}

TEST_CASE("with fewer slots than are held none is granted until enough are given back") {
  Desk desk(3);
  for (int i = 0; i < 3; ++i) desk.arrive(kP1);
  desk->share_slots(1, 0, Scheduler::Reserved::kept);
  Waiter& waiter = desk.arrive(kP0);
  CHECK(desk.last.kind == Kind::queued);
  CHECK(desk.release(kP1) == nullptr);
  CHECK(desk.release(kP1) == nullptr);
  CHECK(desk.release(kP1) == &waiter);
  CHECK(desk->running() == 1);
}

TEST_CASE("slots are kept for a class only where its requests come") {
  Desk desk(2);
  desk.classes[0].reserved = 1;
  desk.arrive(kP1);
  Waiter& waiter = desk.arrive(kP1);
  CHECK(desk->next(desk.now) == nullptr);
  desk->share_slots(2, 0, Scheduler::Reserved::lent);
  CHECK(desk->next(desk.now) == &waiter);
}

TEST_CASE("what runs of a class elsewhere counts against its max inflight") {
  Desk desk(5);
  desk.classes[1].max_inflight = 2;
  desk.arrive(kP1);
  desk->set_elsewhere(kP1, 1);
  Waiter& waiter = desk.arrive(kP1);
  CHECK(desk.last.kind == Kind::queued);
  desk->set_elsewhere(kP1, 0);
  CHECK(desk->next(desk.now) == &waiter);
}
