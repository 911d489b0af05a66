// Longest waits that follow how long slots are held, where the configuration does not say them.
#include <doctest/doctest.h>

#include <utility>

#include "dispatch/scheduler/scheduler.hpp"
#include "unit/dispatch/desk.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

// P1 waits for 100 ms at most, its deadline is a second after it came.
Terms by_class(const Desk& desk) {
  return {.deadline = desk.now + 1s, .clients_deadline = kNever, .max_wait = 100ms};
}

// In quiet slots are held for that long.
void teach_quiet(Desk& desk, Duration held) {
  for (int i = 0; i < 3; ++i) desk.teach(held, kP1);
}

}  // namespace

TEST_CASE("where slots are held for long a default longest wait is longer in proportion") {
  for (const auto& [held, longest] : {std::pair<Duration, Duration>{100ms, 100ms},
                                      {250ms, 100ms},
                                      {2500ms, 1s},
                                      {5s, 2s},
                                      {1h, 2s}}) {
    CAPTURE(to_milliseconds(held));
    Desk desk;
    desk.classes[1].stretches = true;
    teach_quiet(desk, held);
    desk.arrive(kP1);
    const Waiter& first = desk.arrive(kP1, by_class(desk));
    desk.pass(longest - 1ms);
    CHECK(desk->expire(desk.now) == nullptr);
    desk.pass(2ms);
    CHECK(desk->expire(desk.now) == &first);
    CHECK(first.reason == Reason::queue_timeout);
  }
}

TEST_CASE("of more than twenty slots it counts how often one is free") {
  Desk desk(100);
  desk.classes[1].stretches = true;
  teach_quiet(desk, 2500ms);
  for (int i = 0; i < 100; ++i) desk.arrive(kP1);
  const Waiter& first = desk.arrive(kP1, by_class(desk));
  desk.pass(199ms);
  CHECK(desk->expire(desk.now) == nullptr);
  desk.pass(2ms);
  CHECK(desk->expire(desk.now) == &first);
}

TEST_CASE("it is no longer because an upstream that was quick holds slots for long") {
  Desk desk;
  desk.classes[1].stretches = true;
  teach_quiet(desk, 50ms);
  desk.arrive(kP1);
  desk.arrive(kP1);
  for (int i = 0; i < 200; ++i) {
    desk.pass(100ms);
    desk.release(kP1, 2s);
    desk.arrive(kP1);
  }
  desk.release(kP1, 2s);
  CHECK(*desk->mean_hold() > 1.9);
  const Waiter& first = desk.arrive(kP1, by_class(desk));
  desk.pass(101ms);
  CHECK(desk->expire(desk.now) == &first);
}

TEST_CASE("it is no longer while the newest goes first since clients leave") {
  Desk desk;
  desk.classes[1].stretches = true;
  teach_quiet(desk, 2500ms);
  desk.arrive(kP1);
  Terms leaving = by_class(desk);
  leaving.newest_first = true;
  const Waiter& first = desk.arrive(kP1, leaving);
  desk.pass(101ms);
  CHECK(desk->expire(desk.now) == &first);
}

TEST_CASE("a longest wait that was told holds however long slots are held") {
  Desk desk;
  teach_quiet(desk, 2s);
  desk.arrive(kP1);
  const Waiter& first = desk.arrive(kP1, by_class(desk));
  desk.pass(101ms);
  CHECK(desk->expire(desk.now) == &first);
}

TEST_CASE("a route's deadline and a client's end a wait that is stretched") {
  Desk desk;
  desk.classes[1].stretches = true;
  teach_quiet(desk, 2s);
  desk.arrive(kP1);
  Terms of_route = by_class(desk);
  of_route.clients_deadline.reset();
  of_route.deadline = desk.now + 300ms;
  const Waiter& route = desk.arrive(kP1, of_route);
  desk.pass(301ms);
  CHECK(desk->expire(desk.now) == &route);
  Terms of_client = by_class(desk);
  of_client.clients_deadline = desk.now + 400ms;
  of_client.deadline = {desk.now + 1s, *of_client.clients_deadline};
  const Waiter& client = desk.arrive(kP1, of_client);
  desk.pass(401ms);
  CHECK(desk->expire(desk.now) == &client);
  CHECK(client.reason == Reason::deadline_expired);
  // Later than the class's own.
  Desk longer;
  longer.classes[0].stretches = true;
  longer.classes[0].max_wait = 500ms;
  teach_quiet(longer, 2s);
  longer.arrive(kP0);
  const Waiter& third = longer.arrive(
      kP0, {.deadline = longer.now + 1s, .clients_deadline = longer.now + 3s, .max_wait = 500ms});
  longer.pass(2999ms);
  CHECK(longer->expire(longer.now) == nullptr);
  longer.pass(2ms);
  CHECK(longer->expire(longer.now) == &third);
  CHECK(longer->totals(kP0).clients_miss == 1);
}

TEST_CASE("a client's deadline is its own wherever it is before the longer one of its class") {
  Desk desk;
  desk.classes[0].stretches = true;
  desk.classes[0].max_wait = 1s;
  teach_quiet(desk, 2s);
  desk.arrive(kP0);
  const auto within = [&desk](Duration clients) {
    const TimePoint due = desk.now + clients;
    return Terms{.deadline = {desk.now + 1s, due}, .clients_deadline = due, .max_wait = 1s};
  };
  const Waiter& waiting = desk.arrive(kP0, within(3s));
  CHECK(to_milliseconds(desk.last.deadline.operators - desk.now) == 8000);
  CHECK(to_milliseconds(desk.last.deadline.at - desk.now) == 3000);
  // A slot is free each two seconds: the second in line waits for four.
  const Waiter& refused = desk.arrive(kP0, within(3s));
  CHECK(refused.reason == Reason::queue_wait_risk);
  CHECK(refused.by_clients_deadline);
  // With a longest wait that ends sooner still it is the operator's.
  Terms hurried = within(3s);
  hurried.certainty = 0.9;
  desk.arrive(kP0, within(20s));
  const Waiter& fourth = desk.arrive(kP0, hurried);
  CHECK(fourth.reason == Reason::queue_wait_risk);
  CHECK_FALSE(fourth.by_clients_deadline);
  desk.pass(3001ms);
  CHECK(desk->expire(desk.now) == &waiting);
  CHECK(waiting.by_clients_deadline);
}

TEST_CASE("what was spent before the queue is taken off a stretched wait once") {
  Desk desk;
  desk.classes[1].stretches = true;
  desk.classes[1].max_wait = 100ms;
  teach_quiet(desk, 500ms);
  desk.arrive(kP1);
  const Waiter& first = desk.arrive(kP1, {.max_wait = 60ms});
  desk.pass(159ms);
  CHECK(desk->expire(desk.now) == nullptr);
  desk.pass(2ms);
  CHECK(desk->expire(desk.now) == &first);
}

TEST_CASE("a new configuration of an upstream knows for how long its slots are held") {
  Desk former, desk;
  teach_quiet(former, 2500ms);
  desk.classes[1].stretches = true;
  desk->continue_from(*former);
  desk.arrive(kP1);
  const Waiter& first = desk.arrive(kP1, by_class(desk));
  desk.pass(999ms);
  CHECK(desk->expire(desk.now) == nullptr);
  desk.pass(2ms);
  CHECK(desk->expire(desk.now) == &first);
}
