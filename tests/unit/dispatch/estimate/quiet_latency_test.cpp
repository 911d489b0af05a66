#include "dispatch/estimate/quiet_latency.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

constexpr RouteId kCheap{0}, kExpensive{1}, kUnknown{2};

struct Learned {
  QuietLatency routes{3};
  TimePoint now = TimePoint{} + 1h;

  void teach(RouteId route, Duration latency, int times, Duration apart = 0ms) {
    for (int i = 0; i < times; ++i) {
      routes.learn(route, latency, now);
      now += apart;
    }
  }
};

}  // namespace

TEST_CASE("a latency is taken relative to its own route's usual one") {
  Learned learned;
  learned.teach(kCheap, 2ms, 20);
  learned.teach(kExpensive, 200ms, 20);
  CHECK(*learned.routes.relative(kCheap, 6ms) == doctest::Approx(3));
  CHECK(*learned.routes.relative(kExpensive, 600ms) == doctest::Approx(3));
  CHECK(*learned.routes.relative(kExpensive, 100ms) == doctest::Approx(0.5));
}

TEST_CASE("nothing is relative before twenty answers at low load") {
  Learned learned;
  learned.teach(kCheap, 2ms, 19);
  CHECK_FALSE(learned.routes.relative(kCheap, 2ms));
  learned.teach(kCheap, 2ms, 1);
  CHECK(learned.routes.relative(kCheap, 2ms));
  CHECK_FALSE(learned.routes.relative(kExpensive, 2ms));
}

TEST_CASE("an answer is late after five times what is usual, and after 200 ms at the earliest") {
  Learned learned;
  learned.teach(kCheap, 10ms, 64);
  CHECK_FALSE(learned.routes.is_late(kCheap, 199ms));
  CHECK(learned.routes.is_late(kCheap, 200ms));
  learned.teach(kExpensive, 2s, 64);
  CHECK_FALSE(learned.routes.is_late(kExpensive, 9s));
  CHECK(learned.routes.is_late(kExpensive, 11s));
}

TEST_CASE("an answer is delayed after twice what is usual, or where it varies after more") {
  Learned learned;
  learned.teach(kCheap, 5ms, 64);
  CHECK_FALSE(learned.routes.is_delayed(kCheap, 39ms));
  CHECK(learned.routes.is_delayed(kCheap, 40ms));
  learned.teach(kExpensive, 200ms, 64);
  CHECK_FALSE(learned.routes.is_delayed(kExpensive, 390ms));
  CHECK(learned.routes.is_delayed(kExpensive, 410ms));
  CHECK(learned.routes.is_delayed(kUnknown, 410ms));  // as the slowest that is known
  CHECK_FALSE(learned.routes.is_delayed(kUnknown, 390ms));
  Learned varied;
  for (int n = 0; n < 32; ++n) {
    varied.teach(kCheap, 25ms, 1);
    varied.teach(kCheap, 400ms, 1);
  }
  CHECK_FALSE(varied.routes.is_delayed(kCheap, 600ms));
  CHECK(varied.routes.is_delayed(kCheap, 1s));
}

TEST_CASE("a route of which little is known is late when the slowest other one would be") {
  Learned learned;
  CHECK_FALSE(learned.routes.is_late(kUnknown, 999ms));  // nothing is known
  CHECK(learned.routes.is_late(kUnknown, 1s));
  learned.teach(kCheap, 10ms, 64);
  CHECK_FALSE(learned.routes.is_late(kUnknown, 199ms));
  CHECK(learned.routes.is_late(kUnknown, 200ms));
  learned.teach(kExpensive, 100ms, 19);
  CHECK(learned.routes.is_late(kUnknown, 200ms));
  learned.teach(kExpensive, 100ms, 1);
  CHECK_FALSE(learned.routes.is_late(kUnknown, 499ms));
  CHECK(learned.routes.is_late(kUnknown, 501ms));
  learned.teach(kExpensive, 2s, 200);
  CHECK_FALSE(learned.routes.is_late(kUnknown, 999ms));
  CHECK(learned.routes.is_late(kUnknown, 1s));  // however slow the others are
}

TEST_CASE("of two routes the slower one counts, also when they have changed places") {
  Learned learned;
  learned.teach(kCheap, 10ms, 64);
  learned.teach(kExpensive, 150ms, 64);
  learned.teach(kExpensive, 10ms, 1000, 10s);
  CHECK(learned.routes.is_late(kUnknown, 200ms));
  learned.teach(kCheap, 150ms, 1000, 10s);
  CHECK_FALSE(learned.routes.is_late(kUnknown, 700ms));
  CHECK(learned.routes.is_late(kUnknown, 760ms));
}

TEST_CASE("where some requests of a route take much longer, none is late as long as they take") {
  Learned learned;
  for (int n = 0; n < 100; ++n) learned.teach(kCheap, n % 10 == 0 ? 700ms : 20ms, 1);
  CHECK_FALSE(learned.routes.is_late(kCheap, 600ms));
  CHECK(learned.routes.is_late(kCheap, 1s));  // whatever the spread
  learned.teach(kExpensive, 28ms, 100);       // about as long on average
  CHECK(learned.routes.is_late(kExpensive, 200ms));
}

TEST_CASE("what is usual follows in minutes, however many answers there are") {
  Learned learned;
  learned.teach(kCheap, 10ms, 64);
  learned.teach(kCheap, 50ms, 10'000, 1ms);  // ten seconds
  CHECK(*learned.routes.relative(kCheap, 50ms) > 4.8);
  learned.teach(kCheap, 50ms, 3600, 500ms);  // half an hour
  CHECK(*learned.routes.relative(kCheap, 50ms) == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("an answer after a long silence counts once") {
  Learned learned;
  learned.teach(kCheap, 10ms, 64);
  learned.now += 24h;
  learned.teach(kCheap, 20ms, 1);
  CHECK(*learned.routes.relative(kCheap, 20ms) == doctest::Approx(2).epsilon(0.02));
}

TEST_CASE("a reload that moves a route keeps what is known of it") {
  Learned former, next;
  former.teach(kExpensive, 200ms, 64);
  next.routes.continue_from(kCheap, former.routes, kExpensive);
  CHECK(*next.routes.relative(kCheap, 600ms) == doctest::Approx(3));
  CHECK_FALSE(next.routes.relative(kExpensive, 600ms));
}
