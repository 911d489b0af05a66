#include "unit/proxy/worker/busy_worker.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdint>

namespace spillway::proxy {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t kP0 = 0, kP1 = 1, kP2 = 2;

// A single worker. The control does not see for how long requests wait unread: only how late a
// timer is. A turn begins 32 requests, and then the timer has its turn.
struct Alone {
  explicit Alone(std::uint64_t seed = 1, bool sees_unread = true)
      : all(1, seed, {.sees_unread = sees_unread}) {}

  void open_loop(double times, Duration time) {
    its.open_loop(times);
    all.run(time);
  }
  void closed_loop(std::size_t connections, Duration think, Duration time) {
    its.closed_loop(connections, think);
    all.run(time);
  }

  BusyWorkers all;
  BusyWorker& its = all[0];
  std::array<SeenOfClass, 3>& seen = its.seen;
};

// Of several workers the first `busy` are asked for `times` what they can do, the others for half.
void ask(BusyWorkers& workers, std::size_t all, std::size_t busy, double times) {
  for (std::size_t n = 0; n < all; ++n)
    workers[n].open_loop(n < busy ? times : 0.5, n < busy ? 4000 : 500);
}

}  // namespace

TEST_CASE("a worker that keeps up refuses nothing whatever it has to do") {
  for (const double times : {0.8, 0.95}) {
    CAPTURE(times);
    Alone worker;
    worker.open_loop(times, 40s);
    CHECK(worker.all.changes.empty());
    for (const SeenOfClass& each : worker.seen) CHECK(each.success() == 1);
    CHECK(worker.its.longest_wait < 100ms);
  }
}

TEST_CASE("the wait of unread requests makes the worker refuse the lowest class first") {
  for (const std::uint64_t seed : {1u, 2u}) {
    CAPTURE(seed);
    Alone worker(seed);
    worker.open_loop(1.2, 60s);
    CHECK(worker.all.changes.size() == 1);
    CHECK(worker.seen[kP0].success() > 0.999);
    CHECK(worker.seen[kP0].p99() < 400ms);
    CHECK(worker.seen[kP1].success() > 0.98);
    CHECK(worker.seen[kP2].success() > 0.4);  // of 0.495, if a refusal costs 0.45

    Alone blind(seed, false);
    blind.open_loop(1.2, 60s);
    CHECK(blind.all.changes.empty());
    CHECK(blind.its.lag() < 20ms);
    for (const SeenOfClass& each : blind.seen) CHECK(each.success() < 0.05);
  }
}

// To refuse all of P2 and half of P1 is not enough at twice what the worker can do: a refusal takes
// too long.
TEST_CASE("far too many requests leave the highest class most of its answers") {
  Alone worker, blind(1, false);
  for (Alone* each : {&worker, &blind}) each->open_loop(2, 40s);
  CHECK(worker.all.changes.size() == 1);
  CHECK(worker.seen[kP0].refused == 0);
  CHECK(worker.seen[kP0].success() > 0.7);
  CHECK(worker.seen[kP1].success() > 0.3);
  CHECK(blind.seen[kP0].success() < 0.05);
}

TEST_CASE("after too many requests the state is NORMAL again and nothing waits") {
  Alone worker;
  worker.open_loop(1.3, 20s);
  CHECK(worker.all.state() == State::overloaded);
  worker.open_loop(0.8, 30s);
  CHECK(worker.all.state() == State::normal);
  CHECK(worker.all.changes.size() == 2);
  CHECK(worker.its.lag() < 10ms);
}

// The connections of a load generator: each asks again at once. 700 of them wait for 175 ms. They
// could get no more, and no request is refused.
TEST_CASE("a worker that is merely busy all the time is not overloaded") {
  Alone worker;
  worker.closed_loop(700, 0s, 30s);
  CHECK(worker.its.lag() > 150ms);
  CHECK(worker.all.changes.empty());
  std::size_t answered = 0;
  for (const SeenOfClass& each : worker.seen) {
    CHECK(each.success() == 1);
    answered += each.answered;
  }
  CHECK(double(answered) > 0.98 * 25 * BusyWorker::kCapacity);
}

// With some time between their requests the clients of the lowest class give way.
TEST_CASE("many clients in a closed loop wait for less while the lowest class is refused") {
  Alone worker, blind(1, false);
  for (Alone* each : {&worker, &blind}) each->closed_loop(2000, 200ms, 40s);
  CHECK(worker.all.changes.size() == 1);
  CHECK(worker.seen[kP0].success() == 1);
  CHECK(worker.seen[kP1].success() > 0.99);
  CHECK(worker.seen[kP0].p99() < 230ms);
  CHECK(blind.seen[kP0].p99() > 290ms);
}

// The control: all workers refuse requests for the lag of one.
TEST_CASE("one busy worker of three refuses alone and the others serve every class") {
  for (const double times : {1.2, 1.6}) {
    CAPTURE(times);
    BusyWorkers workers(3, 1), alike(3, 1, {.refuses = Refuses::everywhere});
    for (BusyWorkers* each : {&workers, &alike}) {
      ask(*each, 3, 1, times);
      each->run(30s);
      CHECK(each->changes.size() == 1);
      CHECK((*each)[0].seen[kP0].success() > 0.999);
      CHECK((*each)[0].seen[kP1].success() > (times < 1.5 ? 0.98 : 0.6));
    }
    for (std::size_t n = 1; n < 3; ++n) {
      for (const SeenOfClass& of_class : workers[n].seen) CHECK(of_class.success() == 1);
      CHECK(alike[n].seen[kP2].success() < 0.6);
    }
    for (std::size_t c = 0; c < 3; ++c) {
      CHECK(workers[0].seen[c].success() ==
            doctest::Approx(alike[0].seen[c].success()).epsilon(0.03));
    }
  }
}

TEST_CASE("workers that are equally busy refuse as one does") {
  for (const double times : {1.05, 1.2, 1.6}) {
    CAPTURE(times);
    BusyWorkers workers(2, 1), alike(2, 1, {.refuses = Refuses::everywhere});
    for (BusyWorkers* each : {&workers, &alike}) {
      ask(*each, 2, 2, times);
      each->run(40s);
    }
    CHECK(workers.changes.size() == alike.changes.size());
    for (std::size_t n = 0; n < 2; ++n) {
      CHECK(workers[n].seen[kP0].success() > 0.999);
      for (std::size_t c = 1; c < 3; ++c)
        CHECK(workers[n].seen[c].success() > alike[n].seen[c].success() - 0.02);
    }
  }
}

// The state has a cooldown, and a worker of its own lag a memory: neither makes the other wait.
TEST_CASE("a second worker that becomes busy refuses from then on until it is not") {
  BusyWorkers workers(2, 1);
  ask(workers, 2, 1, 1.3);
  workers.run(20s);
  CHECK(workers[1].seen[kP2].success() == 1);
  ask(workers, 2, 2, 1.3);
  workers.run(40s);
  for (std::size_t n = 0; n < 2; ++n) {
    CHECK(workers[n].seen[kP0].success() > 0.999);
    CHECK(workers[n].seen[kP2].success() < 0.6);
  }
  workers[1].seen = {};
  ask(workers, 2, 1, 1.3);
  workers.run(30s);  // after 20 s of them it does not count as lagging
  const std::size_t refused = workers[1].seen[kP2].refused;
  workers.run(30s);
  CHECK(workers[1].seen[kP2].refused == refused);
  CHECK(workers.state() == State::overloaded);
  ask(workers, 2, 0, 1);
  workers.run(30s);
  CHECK(workers.state() == State::normal);
}

// Fifty clients a second that stay, each with five requests a second. While the busy worker refuses
// enough it does not lag by much, and gets some. The control: it gets as many as the others.
TEST_CASE("of clients that come while a worker lags the others get more") {
  BusyWorkers workers(4, 1), alike(4, 1, {.accepts = Accepts::by_number});
  for (BusyWorkers* each : {&workers, &alike}) {
    ask(*each, 4, 1, 1.2);
    each->run(5s);
    for (int n = 0; n < 200; ++n) {
      for (int k = 0; k < 5; ++k) each->connect(200ms);
      each->run(100ms);
    }
    each->run(15s);
    CHECK((*each)[0].seen[kP0].success() > 0.99);
    for (std::size_t n = 1; n < 4; ++n)
      for (const SeenOfClass& of_class : (*each)[n].seen) CHECK(of_class.success() == 1);
  }
  CHECK(workers.clients_of(0) < 200);
  CHECK(alike.clients_of(0) == 250);
  CHECK(workers[0].seen[kP2].success() > alike[0].seen[kP2].success() + 0.04);
}

}  // namespace spillway::proxy
