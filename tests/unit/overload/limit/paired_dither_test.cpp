#include "overload/limit/paired_dither.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

// An upstream that works on `parallel` requests at a time, asked for `offered` a second.
struct Upstream {
  double parallel = 40;
  double service = 0.1;  // seconds
  double offered = 600;  // per second
  double answered = 1;   // part of the dispatched requests
  double in_time = 1;    // part of those it has done with that succeed
};

class Loop {
 public:
  explicit Loop(const config::AutoConcurrency& settings = {}, std::uint32_t least = 1)
      : limit_(settings, least) {}

  // Lets `time` pass in ticks of 100 ms.
  void run(const Upstream& upstream, Duration time) {
    lowest_ = highest_ = limit_.limit();
    for (const TimePoint end = now_ + time; now_ < end; now_ += 100ms) {
      // More than it can do fills the limit: the excess waits at the upstream.
      const bool fills = upstream.offered > upstream.parallel / upstream.service;
      const double at_work =
          std::min(double(limit_.limit()), fills ? 1e9 : upstream.offered * upstream.service);
      const double rate = std::min(at_work, upstream.parallel) / upstream.service;
      carried_ += rate * 0.1 * upstream.in_time;
      const auto succeeded = static_cast<std::uint32_t>(carried_);
      carried_ -= succeeded;
      limit_.step({.span = 100ms,
                   .wall = now_.time_since_epoch(),
                   .slot_seconds = at_work * 0.1,
                   .succeeded = double(succeeded),
                   .is_short = upstream.offered > 1.01 * rate,
                   .has_waiters = upstream.offered > 1.01 * rate,
                   .released = rate * 0.1,
                   .answered = upstream.answered},
                  now_);
      lowest_ = std::min(lowest_, limit_.limit());
      highest_ = std::max(highest_, limit_.limit());
    }
  }

  PairedDither& operator*() { return limit_; }
  std::uint32_t limit() const { return limit_.limit(); }
  std::uint32_t lowest() const { return lowest_; }    // of the last run
  std::uint32_t highest() const { return highest_; }  // of the last run

 private:
  TimePoint now_ = TimePoint{} + 1h;
  PairedDither limit_;
  double carried_ = 0;
  std::uint32_t lowest_ = 0, highest_ = 0;
};

// The limits of proxies before one upstream after a minute of twice what it can do, of which each
// serves as many as are at work through it; their wall clocks are `apart` from one to the next.
double limits_together(std::size_t proxies, std::uint32_t initial, Duration apart) {
  constexpr Upstream upstream{.parallel = 64, .service = 0.02};
  std::vector<PairedDither> limits(proxies,
                                   PairedDither(config::AutoConcurrency{.initial = initial}, 1));
  std::vector<double> carried(proxies);
  double together = 0;
  int ticks = 0;
  for (TimePoint now = TimePoint{} + 1h; now < TimePoint{} + 1h + 60s; now += 100ms) {
    double at_work = 0;
    for (const PairedDither& limit : limits) at_work += limit.limit();
    const double rate = std::min(at_work, upstream.parallel) / upstream.service;
    for (std::size_t i = 0; i < proxies; ++i) {
      const double own = rate * limits[i].limit() / at_work * 0.1;
      carried[i] += own;
      const auto succeeded = static_cast<std::uint32_t>(carried[i]);
      carried[i] -= succeeded;
      limits[i].step({.span = 100ms,
                      .wall = now.time_since_epoch() + static_cast<int>(i) * apart,
                      .slot_seconds = limits[i].limit() * 0.1,
                      .succeeded = double(succeeded),
                      .is_short = true,
                      .has_waiters = true,
                      .released = own,
                      .answered = 1},
                     now);
    }
    if (now < TimePoint{} + 1h + 30s) continue;
    together += at_work;
    ++ticks;
  }
  return together / ticks;
}

}  // namespace

TEST_CASE("proxies before one upstream find what it can do for all of them") {
  for (const std::size_t proxies : {2, 4, 16}) {
    CAPTURE(proxies);
    CHECK(limits_together(proxies, 16, 0ms) <= 100);
    CHECK(limits_together(proxies, 16, 0ms) >= 60);
    CHECK(limits_together(proxies, 16, 10ms) <= 100);
  }
}

TEST_CASE("proxies whose turns do not go together take each other's gain for their own") {
  CHECK(limits_together(2, 16, 600ms) > 200);
  CHECK(limits_together(4, 16, 600ms) > 200);
}

TEST_CASE("the limit is found from far above and from far below") {
  for (const std::uint32_t initial : {4u, 16u, 64u, 300u, 1000u}) {
    CAPTURE(initial);
    Loop loop({.initial = initial});
    loop.run({}, 90s);
    loop.run({}, 20s);
    CHECK(loop.lowest() >= 36);
    CHECK(loop.highest() <= 60);
  }
}

TEST_CASE("the first guess does not wait for requests that succeed") {
  Loop loop;
  loop.run({.parallel = 4, .service = 0.2, .offered = 14}, 20s);
  loop.run({.parallel = 4, .service = 0.2, .offered = 200, .in_time = 0}, 2s);
  CHECK(loop.limit() <= 10);
}

namespace {

// The limit after a crowd has filled all slots of an idle upstream, whose requests take about three
// seconds without a queue and `times` as long with it: nothing is given back before the first ends.
std::uint32_t limit_after_crowd(double times) {
  PairedDither limit({}, 1);
  TimePoint now = TimePoint{} + 1h;
  const auto step = [&](double at_work, double released, bool is_short) {
    limit.step({.span = 100ms,
                .wall = now.time_since_epoch(),
                .slot_seconds = at_work * 0.1,
                .succeeded = std::floor(released),
                .is_short = is_short,
                .has_waiters = is_short,
                .released = released,
                .answered = 1},
               now);
    now += 100ms;
  };
  for (int tick = 0; tick < 400; ++tick) step(12, tick % 5 == 0 ? 2 : 0, false);
  for (int tick = 0; tick < 60; ++tick) {
    const double ended = tick < 24 ? 0 : 64 / 12.0 / times;
    step(64, std::floor(ended), true);
  }
  return limit.limit();
}

}  // namespace

TEST_CASE("a crowd before a slow upstream that is idle is no sign of a queue") {
  CHECK(limit_after_crowd(1) >= 64);
  CHECK(limit_after_crowd(4) < 64);
}

TEST_CASE("a first guess made in a stall is taken back as soon as the stall ends") {
  Loop loop;
  loop.run({.offered = 280}, 20s);
  loop.run({.service = 4, .offered = 280}, 4s);
  CHECK(loop.limit() <= 10);
  loop.run({.offered = 600}, 4s);
  CHECK(loop.limit() >= 36);
  CHECK(loop.highest() <= 60);
}

TEST_CASE("the limit follows the upstream when it gets smaller, larger or slower") {
  Loop loop;
  loop.run({}, 30s);
  loop.run({.parallel = 16}, 80s);
  loop.run({.parallel = 16}, 10s);
  CHECK(loop.highest() <= 24);
  loop.run({.parallel = 40}, 15s);
  loop.run({.parallel = 40}, 10s);
  CHECK(loop.lowest() >= 34);
  // As a whole slower: it works on as many at once as before.
  loop.run({.parallel = 40, .service = 0.5}, 60s);
  CHECK(loop.lowest() >= 30);
  CHECK(loop.highest() <= 60);
}

TEST_CASE("nothing is probed while no request waits") {
  Loop loop;
  loop.run({.offered = 300}, 60s);
  CHECK(loop.lowest() == 64);
  CHECK(loop.highest() == 64);
}

TEST_CASE("the limit stays within its bounds") {
  Loop narrow({.min = 50, .max = 60, .initial = 55});
  narrow.run({}, 60s);
  CHECK(narrow.lowest() >= 50);
  CHECK(narrow.highest() <= 60);
  narrow.run({.parallel = 500, .offered = 8000}, 60s);
  CHECK(narrow.highest() <= 60);

  Loop reserved({}, 30);
  reserved.run({.parallel = 4}, 60s);
  CHECK(reserved.lowest() >= 30);

  Loop point({.min = 7, .max = 7, .initial = 7});
  point.run({}, 30s);
  CHECK(point.lowest() == 7);
  CHECK(point.highest() == 7);
}

TEST_CASE("the limit is cut while clients leave before they are served") {
  Loop loop({.initial = 1000});
  loop.run({.offered = 20'000, .answered = 0.1}, 12s);
  CHECK(loop.limit() <= 100);
}

TEST_CASE(
    "the limit is cut although no request waits, where clients leave before they are served") {
  Loop loop({.initial = 1000});
  loop.run({.parallel = 4, .service = 0.2, .offered = 20, .answered = 0.1}, 40s);
  CHECK(loop.lowest() <= 4);
}

TEST_CASE("cuts that do not make clients stay are taken back, for a minute") {
  const Upstream hopeless{.offered = 20'000, .answered = 0.1};
  Loop loop({.initial = 64});
  loop.run(hopeless, 15s);
  CHECK(loop.lowest() < 40);
  CHECK(loop.limit() == 64);
  loop.run(hopeless, 45s);
  CHECK(loop.lowest() == 64);
}

TEST_CASE("a cut by which fewer are served is taken back at once, and the next one comes later") {
  // 41 at work: 40 that will leave, and one of five a second that are served.
  config::AutoConcurrency settings;
  PairedDither limit(settings, 1);
  TimePoint now = TimePoint{} + 1h;
  int low_for = 0;
  for (int tick = 0; tick < 6000; ++tick, now += 100ms) {
    const double at_work = std::min<double>(limit.limit(), 41);
    const bool serves = at_work >= 41 || tick % 4 == 0;
    limit.step({.span = 100ms,
                .wall = now.time_since_epoch(),
                .slot_seconds = at_work * 0.1,
                .succeeded = serves && tick % 2 == 0 ? 1.0 : 0.0,
                .is_short = false,
                .has_waiters = at_work < 41,
                .released = 1.3,
                .answered = 0.4},
               now);
    if (limit.limit() < 41) ++low_for;
  }
  CHECK(low_for < 600);  // of 6000
}

TEST_CASE("after a brake the limit is soon where there was no queue before, and no higher") {
  const Upstream usual{.offered = 350};
  Loop loop({.initial = 200});
  loop.run(usual, 30s);
  for (int seconds = 0; loop.limit() > 8 && seconds < 20; ++seconds)
    loop.run({.parallel = 4, .offered = 2000, .answered = 0.1}, 1s);
  REQUIRE(loop.limit() <= 8);
  loop.run(usual, 8s);
  CHECK(loop.limit() >= 30);
  CHECK(loop.limit() <= 60);
}

TEST_CASE("what is known of quiet times finds the limit sooner when it first binds") {
  const auto seconds_to_find = [](bool has_quiet_time) {
    Loop loop({.initial = 64});
    if (has_quiet_time) loop.run({.parallel = 4, .service = 0.2, .offered = 10}, 30s);
    int seconds = 0;
    for (; loop.limit() > 8 && seconds < 200; ++seconds)
      loop.run({.parallel = 4, .service = 0.2, .offered = 40}, 1s);
    return seconds;
  };
  CHECK(seconds_to_find(true) <= 15);
  CHECK(seconds_to_find(false) >= 18);
}

TEST_CASE("a restart keeps the limit, within the bounds") {
  Loop loop;
  (*loop).restart(30);
  CHECK(loop.limit() == 30);
  loop.run({.offered = 100}, 5s);
  CHECK(loop.limit() == 30);
  (*loop).restart(100'000);
  CHECK(loop.limit() == 1000);
}
