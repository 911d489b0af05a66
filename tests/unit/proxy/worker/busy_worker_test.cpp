#include "unit/proxy/worker/busy_worker.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>

namespace spillway::proxy {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t kP0 = 0, kP1 = 1, kP2 = 2;

}  // namespace

TEST_CASE("a worker that keeps up refuses nothing whatever it has to do") {
  for (const double times : {0.8, 0.95}) {
    CAPTURE(times);
    BusyWorker worker(true, 1);
    worker.open_loop(times, 40s);
    CHECK(worker.changes.empty());
    for (const SeenOfClass& each : worker.seen) CHECK(each.success() == 1);
    CHECK(worker.longest_wait < 100ms);
  }
}

// The control: a lag that only tells how late a timer is. A turn begins 32 requests, and then the
// timer has its turn.
TEST_CASE("the wait of unread requests makes the worker refuse the lowest class first") {
  for (const std::uint64_t seed : {1u, 2u}) {
    CAPTURE(seed);
    BusyWorker worker(true, seed);
    worker.open_loop(1.2, 60s);
    CHECK(worker.changes.size() == 1);
    CHECK(worker.seen[kP0].success() > 0.999);
    CHECK(worker.seen[kP0].p99() < 400ms);
    CHECK(worker.seen[kP1].success() > 0.98);
    CHECK(worker.seen[kP2].success() > 0.4);  // of 0.495, if a refusal costs 0.45

    BusyWorker blind(false, seed);
    blind.open_loop(1.2, 60s);
    CHECK(blind.changes.empty());
    CHECK(blind.lag() < 20ms);
    for (const SeenOfClass& each : blind.seen) CHECK(each.success() < 0.05);
  }
}

// To refuse all of P2 and half of P1 is not enough at twice what the worker can do: a refusal takes
// too long.
TEST_CASE("far too many requests leave the highest class most of its answers") {
  BusyWorker worker(true, 1), blind(false, 1);
  for (BusyWorker* each : {&worker, &blind}) each->open_loop(2, 40s);
  CHECK(worker.changes.size() == 1);
  CHECK(worker.seen[kP0].refused == 0);
  CHECK(worker.seen[kP0].success() > 0.7);
  CHECK(worker.seen[kP1].success() > 0.3);
  CHECK(blind.seen[kP0].success() < 0.05);
}

TEST_CASE("after too many requests the state is NORMAL again and nothing waits") {
  BusyWorker worker(true, 1);
  worker.open_loop(1.3, 20s);
  CHECK(worker.state() == State::overloaded);
  worker.open_loop(0.8, 30s);
  CHECK(worker.state() == State::normal);
  CHECK(worker.changes.size() == 2);
  CHECK(worker.lag() < 10ms);
}

// The connections of a load generator: each asks again at once. 700 of them wait for 175 ms. They
// could get no more, and no request is refused.
TEST_CASE("a worker that is merely busy all the time is not overloaded") {
  BusyWorker worker(true, 1);
  worker.closed_loop(700, 0s, 30s);
  CHECK(worker.lag() > 150ms);
  CHECK(worker.changes.empty());
  std::size_t answered = 0;
  for (const SeenOfClass& each : worker.seen) {
    CHECK(each.success() == 1);
    answered += each.answered;
  }
  CHECK(double(answered) > 0.98 * 25 * BusyWorker::kCapacity);
}

// With some time between their requests the clients of the lowest class give way.
TEST_CASE("many clients in a closed loop wait for less while the lowest class is refused") {
  BusyWorker worker(true, 1), blind(false, 1);
  for (BusyWorker* each : {&worker, &blind}) each->closed_loop(2000, 200ms, 40s);
  CHECK(worker.changes.size() == 1);
  CHECK(worker.seen[kP0].success() == 1);
  CHECK(worker.seen[kP1].success() > 0.99);
  CHECK(worker.seen[kP0].p99() < 230ms);
  CHECK(blind.seen[kP0].p99() > 290ms);
}

}  // namespace spillway::proxy
