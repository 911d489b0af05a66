#include "overload/control/limit_regulator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

// An upstream with `parallel` requests at work at a time and a queue of its own behind them, asked
// for `offered` a second through the limit: the signals that it shows in steady state.
struct Upstream {
  double parallel = 40;
  double service = 0.1;   // seconds
  double offered = 600;   // per second
  double patience = 1e9;  // seconds after which a client leaves
  double timeout = 1e9;   // seconds after which the proxy answers, and the upstream is still at it

  double capacity() const { return parallel / service; }
};

class Loop {
 public:
  Loop(std::uint32_t concurrency, Milliseconds enter, Milliseconds exit, bool regulate = true)
      : regulator_(settings(enter, exit, regulate), concurrency, 1) {}
  // With a response timeout alone.
  Loop(std::uint32_t concurrency, Milliseconds timeout)
      : regulator_(without_thresholds(), concurrency, 1, timeout) {}

  // Lets `time` pass in ticks of 100 ms.
  void run(const Upstream& upstream, Duration time) {
    for (const TimePoint end = now_ + time; now_ < end; now_ += 100ms) tick(upstream);
  }

  void rotate(double times) { regulator_.on_rotation(times, now_); }

  std::uint32_t limit() const { return regulator_.limit(); }
  std::uint32_t lowest() const { return lowest_; }
  double latency() const { return latency_; }
  const LimitRegulator& regulator() const { return regulator_; }

 private:
  static config::Overload settings(Milliseconds enter, Milliseconds exit, bool regulate) {
    config::Overload overload;
    overload.enter.latency_p95 = enter;
    overload.exit.latency_p95 = exit;
    overload.regulate = regulate;
    return overload;
  }

  static config::Overload without_thresholds() {
    config::Overload overload;
    overload.enter.latency_p95_ratio.reset();
    return overload;
  }

  void tick(const Upstream& upstream) {
    const double limit = regulator_.limit();
    const double busy = std::min(limit, upstream.offered * upstream.service);
    const bool saturated =
        upstream.offered > std::min(limit / upstream.service, upstream.capacity());
    const double at_work = saturated ? limit : busy;
    const double throughput = std::min(upstream.capacity(), at_work / upstream.service);
    latency_ = saturated ? std::min(at_work / throughput, upstream.patience) : upstream.service;
    const double served = latency_ < upstream.patience ? throughput : 0;
    OverloadSignals signals;
    const bool is_late = latency_ > upstream.timeout;
    signals.latency_p95 = std::min(latency_, upstream.timeout);
    signals.timeout_rate = signals.total_error_rate = is_late ? 1 : 0;
    signals.inflight = at_work;
    signals.inflight_ratio = at_work / limit;
    signals.offered_rate = upstream.offered;
    signals.admitted_rate = throughput;
    signals.completed_rate = served;
    regulator_.step(signals, saturated ? 50 : 0, now_);
    lowest_ = std::min(lowest_, regulator_.limit());
  }

  LimitRegulator regulator_;
  TimePoint now_ = TimePoint{} + 1h;
  double latency_ = 0;
  std::uint32_t lowest_ = 1'000'000;
};

}  // namespace

TEST_CASE("a concurrency five times too high is lowered until the latency threshold is met") {
  Loop loop(200, 400ms, 300ms);
  loop.run({}, 60s);
  CHECK(loop.latency() < 0.4);
  CHECK(loop.limit() >= 100);
  CHECK_FALSE(loop.regulator().is_futile());
  CHECK(loop.regulator().is_holding());
}

TEST_CASE("with regulate off the limit never moves") {
  Loop loop(200, 400ms, 300ms, false);
  loop.run({}, 60s);
  CHECK(loop.limit() == 200);
  CHECK_FALSE(loop.regulator().is_holding());
}

TEST_CASE("a limit under which nothing is answered in time is lowered until it is") {
  for (const std::uint32_t concurrency : {80u, 200u, 1000u}) {
    CAPTURE(concurrency);
    Loop loop(concurrency, 150ms);
    loop.run({.timeout = 0.15}, 60s);
    CHECK(loop.latency() < 0.15);
    CHECK(loop.lowest() >= 28);
    CHECK_FALSE(loop.regulator().is_futile());
    CHECK(loop.regulator().is_holding());
    loop.run({.timeout = 0.15}, 60s);
    CHECK(loop.limit() >= 40);  // all that the upstream can do
    CHECK(loop.limit() <= 60);
  }
}

TEST_CASE("an upstream that answers nothing in time under any limit gets its limit back") {
  Loop loop(40, 300ms);
  const Upstream hangs{.parallel = 1000, .service = 2.3, .timeout = 0.3};
  loop.run(hangs, 5s);
  CHECK(loop.lowest() < 40);
  loop.run(hangs, 15s);
  CHECK(loop.limit() == 40);
  CHECK(loop.regulator().is_futile());
  CHECK_FALSE(loop.regulator().prevents_timeouts());  // so they are errors as others are
}

TEST_CASE("a limit that was lowered for timeouts is raised after a minute without any") {
  Loop loop(200, 150ms);
  loop.run({.parallel = 10, .timeout = 0.15}, 60s);
  REQUIRE(loop.limit() <= 15);
  CHECK(loop.regulator().prevents_timeouts());
  const Upstream well{.parallel = 100, .service = 0.11, .timeout = 0.15};  // 0.73 of the timeout
  loop.run(well, 180s);
  CHECK(loop.limit() >= 60);
  CHECK(loop.latency() < 0.15);
}

TEST_CASE("timeouts that take longer than a trial lower no limit") {
  Loop loop(1000, 30s);
  loop.run({.parallel = 25, .service = 1, .timeout = 30}, 5min);
  CHECK(loop.lowest() == 1000);
  CHECK_FALSE(loop.regulator().prevents_timeouts());
}

TEST_CASE("what an upstream does that is well again is not put down to a lower limit") {
  Loop loop(40, 300ms);
  loop.run({.parallel = 1000, .service = 2.3, .timeout = 0.3}, 4s);
  REQUIRE(loop.limit() < 40);
  loop.run({.timeout = 0.3}, 8s);
  CHECK(loop.limit() == 40);
  CHECK_FALSE(loop.regulator().is_futile());
}

TEST_CASE("a threshold that cannot be met stops at the knee, and that is said") {
  Loop loop(200, 80ms, 60ms);  // the service alone takes 100 ms
  loop.run({}, 120s);
  CHECK(loop.limit() >= 39);
  CHECK(loop.limit() <= 50);
  CHECK(loop.regulator().is_futile());
}

TEST_CASE("a slow dependency that leaves slots free keeps its limit") {
  Loop loop(200, 400ms, 300ms);
  const Upstream slow{.parallel = 1000, .service = 0.5, .offered = 300};
  loop.run(slow, 120s);
  CHECK(loop.lowest() == 200);
}

TEST_CASE("a slow dependency that needs all slots is tried, and gets its limit back") {
  Loop loop(100, 400ms, 300ms);
  const Upstream slow{.parallel = 1000, .service = 0.5, .offered = 300};
  loop.run(slow, 4s);
  CHECK(loop.lowest() < 100);
  loop.run(slow, 6s);
  CHECK(loop.limit() == 100);
  CHECK(loop.regulator().is_futile());
}

TEST_CASE("trials that fail become rare") {
  Loop loop(100, 400ms, 300ms);
  const Upstream slow{.parallel = 1000, .service = 0.5, .offered = 300};
  int lowered = 0;
  for (std::uint32_t second = 0, before = 100; second < 600; ++second) {
    loop.run(slow, 1s);
    lowered += loop.limit() < before ? 1 : 0;
    before = loop.limit();
  }
  CHECK(lowered >= 3);
  CHECK(lowered <= 8);
}

TEST_CASE("a backend that works for clients that have left is braked until they are served") {
  Loop loop(2000, 400ms, 300ms);
  const Upstream impatient{.parallel = 40, .service = 0.1, .offered = 2500, .patience = 1};
  loop.run(impatient, 30s);
  CHECK(loop.latency() < 1);
  CHECK(loop.limit() < 400);
}

TEST_CASE("the limit is raised again when the upstream becomes faster") {
  Loop loop(200, 400ms, 300ms);
  loop.run({}, 60s);
  const std::uint32_t lowered = loop.limit();
  REQUIRE(lowered < 200);
  loop.run({.parallel = 160, .service = 0.1, .offered = 3000}, 60s);
  CHECK(loop.limit() == 200);
}

TEST_CASE("a limit without waiters is no reason to stay overloaded") {
  Loop loop(200, 400ms, 300ms);
  loop.run({}, 60s);
  REQUIRE(loop.regulator().is_holding());
  loop.run({.offered = 100}, 5s);
  CHECK_FALSE(loop.regulator().is_holding());
}

TEST_CASE("a reload keeps the limit that was found, within the new bounds") {
  Loop loop(200, 400ms, 300ms);
  loop.run({}, 60s);
  config::Overload settings;
  settings.enter.latency_p95 = 400ms;
  settings.exit.latency_p95 = 300ms;
  LimitRegulator same(settings, 200, 1), smaller(settings, 20, 1);
  same.continue_from(loop.regulator());
  smaller.continue_from(loop.regulator());
  CHECK(same.limit() == loop.limit());
  CHECK(smaller.limit() == 20);
}

TEST_CASE("in shadow mode the limit never moves: nothing would follow it") {
  config::Overload settings;
  settings.enter.latency_p95 = 400ms;
  settings.exit.latency_p95 = 300ms;
  settings.mode = config::Mode::shadow;
  LimitRegulator regulator(settings, 200, 1);
  OverloadSignals signals;
  signals.latency_p95 = 0.5;
  signals.inflight_ratio = 1;
  signals.offered_rate = 600;
  signals.admitted_rate = signals.completed_rate = 400;
  for (TimePoint now = TimePoint{} + 1h; now < TimePoint{} + 1h + 20s; now += 100ms)
    regulator.step(signals, 50, now);
  CHECK(regulator.limit() == 200);
  CHECK(regulator.regulates());
}

TEST_CASE("tail latency is judged by each threshold that is set, and by none without evidence") {
  config::Overload settings;
  settings.enter.latency_p99 = 500ms;
  settings.exit.latency_p99 = 400ms;
  const TailLatency tail(settings);  // and the ratio, 3 and 2
  OverloadSignals signals;
  signals.latency_p95 = 10;
  CHECK_FALSE(tail.judge(signals));
  struct Case {
    double p99, ratio;
    bool is_breached, is_satisfied;
  };
  const Case cases[] = {{0.3, 1, false, true},
                        {0.6, 1, true, false},
                        {0.3, 3, true, false},
                        {0.3, 2.5, false, false},
                        {0.45, 1, false, false}};
  for (const Case& one : cases) {
    CAPTURE(one.p99);
    CAPTURE(one.ratio);
    signals.latency_p99 = one.p99;
    signals.latency_p95_ratio = one.ratio;
    CHECK(tail.judge(signals)->is_breached == one.is_breached);
    CHECK(tail.judge(signals)->is_satisfied == one.is_satisfied);
    CHECK(tail.judge(signals)->factor ==
          doctest::Approx(std::min(0.45 / one.p99, 2.5 / one.ratio)));
  }
  settings.enter.latency_p95_ratio.reset();
  settings.enter.latency_p99.reset();
  CHECK_FALSE(TailLatency(settings).is_watched());
}

// Throughput falls with the servers, and not with the limit.
TEST_CASE("a trial is taken back where another part of the servers is in rotation") {
  for (const bool is_told : {true, false}) {
    CAPTURE(is_told);
    Loop loop(200, 500ms, 350ms);
    while (loop.limit() == 200) loop.run({}, 100ms);
    if (is_told) {
      loop.rotate(0.5);
      CHECK(loop.limit() == 200);
    }
    while (loop.limit() < 200) loop.run({.parallel = 20}, 100ms);
    // The control: it blames the trial.
    CHECK(loop.regulator().is_futile() != is_told);
  }
}

TEST_CASE("timeouts breach where all requests take long, and where they are more than chance") {
  const TailLatency tail({}, 300ms);
  struct Case {
    double late, p95, answers;
    bool is_breached, is_satisfied;
  };
  const Case cases[] = {{0.05, 0.29, 800, true, false},
                        {0.05, 0.22, 800, false, false},  // those that are answered take less
                        {0.05, 0.2, 800, false, true},
                        {0.05, 0.29, 20, false, false},  // one of twenty
                        {0.005, 0.29, 800, false, false},
                        {0, 0.2, 800, false, true}};
  for (const Case& one : cases) {
    CAPTURE(one.late);
    CAPTURE(one.p95);
    CAPTURE(one.answers);
    OverloadSignals signals;
    signals.timeout_rate = one.late;
    signals.latency_p95 = one.p95;
    const TailLatency::Judgement judged = tail.judge_timeouts(signals, one.answers);
    CHECK(judged.is_breached == one.is_breached);
    CHECK(judged.are_late == one.is_breached);
    CHECK(judged.is_satisfied == one.is_satisfied);
  }
}

TEST_CASE(
    "an upstream that does less than it did at a good latency got slower: no trial at first") {
  Loop loop(40, 400ms, 300ms);
  loop.run({.offered = 390}, 60s);
  loop.run({.service = 0.5, .offered = 390}, 59s);
  CHECK(loop.lowest() == 40);
  loop.run({.service = 0.5, .offered = 390}, 30s);
  CHECK(loop.lowest() < 40);  // one, to be sure

  Loop without_memory(40, 400ms, 300ms);
  without_memory.run({.service = 0.5, .offered = 390}, 30s);
  CHECK(without_memory.lowest() < 40);
}
