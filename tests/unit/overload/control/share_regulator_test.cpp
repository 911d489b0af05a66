#include "overload/control/share_regulator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kP0 = 0, kP1 = 1, kP2 = 2;

config::Overload settings(bool regulate = true) {
  config::Overload overload;  // errors 20 / 10 %
  overload.enter.event_loop_lag = 50ms;
  overload.exit.event_loop_lag = 30ms;
  overload.regulate = regulate;
  return overload;
}

class Loop {
 public:
  explicit Loop(const config::Overload& overload = settings()) : regulator_(overload, 3) {}

  // Event-loop lag, in seconds, as a function of the share of all work that is refused, each class
  // a third of it. The signal follows with a delay of one second.
  void lag(const std::function<double(double)>& of, Duration time, double use = 0.5) {
    for (const TimePoint end = now_ + time; now_ < end; now_ += 100ms) {
      const double refused =
          (regulator_.share(kP0) + regulator_.share(kP1) + regulator_.share(kP2)) / 3;
      seen_ += 0.1 * (of(refused) - seen_);
      OverloadSignals signals;
      signals.event_loop_lag = seen_;
      signals.event_loop_use = use;
      step(signals, Reason::event_loop_lag);
    }
  }
  void errors(double rate, Duration time, double inflight = 10, double completed_rate = 0) {
    for (const TimePoint end = now_ + time; now_ < end; now_ += 100ms) {
      OverloadSignals signals;
      signals.error_rate = rate;
      signals.inflight = inflight;
      signals.completed_rate = completed_rate;
      signals.inflight_ratio = 0.3;
      step(signals, Reason::error_burst);
    }
  }

  // In NORMAL.
  void calm(Duration time) {
    for (const TimePoint end = now_ + time; now_ < end; now_ += 100ms) {
      OverloadSignals signals;
      signals.error_rate = 0;
      step(signals, Reason::none);
    }
  }

  bool keeps_state() const { return regulator_.keeps_state(now_); }
  const ShareRegulator& operator*() const { return regulator_; }
  double share(std::size_t traffic_class) const { return regulator_.share(traffic_class); }
  double swing() const { return highest_ - lowest_; }  // of all shares together, since forget()
  double seen() const { return seen_; }
  void forget() {
    lowest_ = 3;
    highest_ = 0;
  }

 private:
  void step(const OverloadSignals& signals, Reason reason) {
    regulator_.step(signals, reason, now_);
    const double all = share(kP0) + share(kP1) + share(kP2);
    lowest_ = std::min(lowest_, all);
    highest_ = std::max(highest_, all);
  }

  ShareRegulator regulator_;
  TimePoint now_ = TimePoint{} + 1h;
  double seen_ = 0;
  double lowest_ = 3, highest_ = 0;
};

}  // namespace

TEST_CASE("the lowest class is refused whole before the next one is touched") {
  Loop loop;
  loop.errors(0.25, 2s);
  CHECK(loop.share(kP2) > 0.3);
  CHECK(loop.share(kP1) == 0);
  loop.errors(0.25, 4s);
  CHECK(loop.share(kP2) == 1);
  CHECK(loop.share(kP1) > 0.2);
  CHECK(loop.share(kP0) == 0);
  CHECK((*loop).is_holding());
}

TEST_CASE("the share settles where the lag is between its thresholds") {
  Loop loop;
  const auto lag = [](double refused) { return 0.1 * (1 - refused) * (1 - refused); };
  loop.lag(lag, 60s);
  loop.forget();
  loop.lag(lag, 60s);
  CHECK(loop.seen() < 0.05);
  CHECK(loop.seen() > 0.03);
  CHECK(loop.swing() < 0.3);
  CHECK((*loop).is_holding());
  CHECK_FALSE((*loop).is_futile());

  loop.lag([](double) { return 0.001; }, 40s);
  CHECK_FALSE((*loop).is_holding());
}

// A loop at 1.2 times what it can do; P0:P1:P2 are 10:30:60, a refusal takes 0.45 of a request, the
// signal is 300 ms old.
TEST_CASE("what waits for a busy event loop adds up and the share does not swing with it") {
  ShareRegulator regulator(config::Overload(), 3);
  std::deque<double> waits(3, 0.0);
  double wait = 0, of_p1 = 0, least_of_p2 = 1;
  TimePoint now = TimePoint{} + 1h;
  for (int tick = 0; tick < 1200; ++tick) {
    const double spared = 0.55 * (0.3 * regulator.share(kP1) + 0.6 * regulator.share(kP2));
    wait = std::max(0.0, wait + 0.1 * (1.2 * (1 - spared) - 1));
    waits.push_back(wait);
    waits.pop_front();
    OverloadSignals signals;
    signals.event_loop_lag = waits.front();
    signals.event_loop_use = 1;
    regulator.step(signals, Reason::event_loop_lag, now += 100ms);
    if (tick < 300) continue;
    of_p1 = std::max(of_p1, regulator.share(kP1));
    least_of_p2 = std::min(least_of_p2, regulator.share(kP2));
  }
  CHECK(of_p1 == 0);
  CHECK(least_of_p2 > 0.4);  // of 0.505 that are enough
}

TEST_CASE("refusing that does not help is taken back, and tried again ever later") {
  Loop loop;
  loop.errors(0.5, 12s);
  CHECK((*loop).is_futile());
  CHECK(loop.share(kP2) == 0);
  loop.forget();
  loop.errors(0.5, 15s);
  CHECK(loop.swing() == 0);
  loop.errors(0.5, 15s);
  CHECK(loop.swing() > 0);
  loop.errors(0.5, 10s);
  loop.forget();
  loop.errors(0.5, 30s);
  CHECK(loop.swing() == 0);
  loop.errors(0, 1min);  // as long as it would be paused
  CHECK((*loop).is_futile());
  loop.errors(0, 6min);
  CHECK_FALSE((*loop).is_futile());
}

TEST_CASE("a state that comes back though refusing does not help lasts until a minute is calm") {
  Loop loop;
  loop.errors(0.5, 12s);
  REQUIRE((*loop).is_futile());
  CHECK_FALSE(loop.keeps_state());
  loop.calm(3s);
  loop.errors(0.5, 3s);  // it has come back
  CHECK(loop.keeps_state());
  loop.errors(0, 50s);
  CHECK(loop.keeps_state());
  loop.errors(0, 15s);
  CHECK_FALSE(loop.keeps_state());
}

TEST_CASE("a lag that refusing does not bring down is taken back, unless the event loop is busy") {
  const auto lag = [](double) { return 0.3; };
  for (const bool is_busy : {false, true}) {
    CAPTURE(is_busy);
    Loop loop;
    loop.lag(lag, 30s, is_busy ? 0.95 : 0.85);
    CHECK((*loop).is_futile() == !is_busy);
    CHECK(loop.share(kP2) == (is_busy ? 1 : 0));
  }
}

TEST_CASE("a lag is compared with its worst before the share was full") {
  // It grows while the share does, and stands still then.
  Loop loop;
  loop.lag([](double) { return 0.06; }, 1s);
  loop.lag([](double) { return 1.0; }, 3s);
  loop.lag([](double) { return 0.3; }, 12s);
  CHECK_FALSE((*loop).is_futile());
  CHECK(loop.share(kP2) == 1);
}

TEST_CASE("in shadow mode nothing that would be refused is said not to help") {
  config::Overload shadow = settings();
  shadow.mode = config::Mode::shadow;
  Loop loop(shadow);
  loop.lag([](double) { return 0.3; }, 30s);
  CHECK_FALSE((*loop).is_futile());
  CHECK(loop.share(kP2) == 1);
  loop.errors(0.5, 60s);
  CHECK_FALSE((*loop).is_futile());
}

TEST_CASE("the state lasts while a busy event loop has lagged lately") {
  Loop loop;
  const auto lags = [](double) { return 0.1; };
  const auto runs = [](double) { return 0.001; };
  loop.lag(lags, 5s, 1);
  loop.lag(runs, 18s, 0.95);
  CHECK(loop.share(kP2) == 0);
  CHECK((*loop).is_holding());
  loop.lag(lags, 1s, 0.95);  // it lags again, for a moment
  loop.lag(runs, 18s, 0.95);
  CHECK((*loop).is_holding());
  SUBCASE("it has time to spare") { loop.lag(runs, 1s, 0.85); }
  SUBCASE("it does not lag any more") { loop.lag(runs, 5s, 0.95); }
  CHECK_FALSE((*loop).is_holding());
  loop.lag(runs, 60s, 0.95);
  CHECK_FALSE((*loop).is_holding());
}

TEST_CASE("what did not help waits for its time, unless a busy loop lags clearly more") {
  Loop loop;
  loop.lag([](double) { return 0.3; }, 20s, 0.5);
  REQUIRE((*loop).is_futile());
  REQUIRE(loop.share(kP2) == 0);
  SUBCASE("it is busy and lags as before") {
    loop.lag([](double) { return 0.3; }, 5s, 1);
    CHECK((*loop).is_futile());
    CHECK(loop.share(kP2) == 0);
  }
  SUBCASE("it is busy and lags more") {
    loop.lag([](double) { return 1.0; }, 5s, 1);
    CHECK_FALSE((*loop).is_futile());
    CHECK(loop.share(kP2) > 0);
  }
}

TEST_CASE("a moment in which a busy loop has time to spare is no trial") {
  Loop loop;
  loop.lag([](double) { return 0.3; }, 30s, 1);
  loop.lag([](double) { return 0.3; }, 1s, 0.89);
  CHECK_FALSE((*loop).is_futile());
  CHECK(loop.share(kP2) == 1);
}

TEST_CASE("with regulate off every share is whole") {
  Loop loop(settings(false));
  CHECK(loop.share(kP0) == 1);
  loop.errors(0.5, 60s);
  CHECK(loop.share(kP2) == 1);
  CHECK_FALSE((*loop).is_holding());
  CHECK_FALSE((*loop).is_futile());
}

TEST_CASE("for errors of an upstream that is hardly at work none is refused") {
  Loop idle;
  idle.errors(1, 60s, 1.9);
  CHECK(idle.share(kP2) == 0);
  CHECK_FALSE((*idle).is_futile());
  Loop fast;  // a thousand errors a second look like one request at work
  fast.errors(1, 5s, 1, 1000);
  CHECK(fast.share(kP2) == 1);
  Loop busy;
  busy.errors(1, 5s, 2);
  CHECK(busy.share(kP2) == 1);
  // Refusing lowers the load: what was begun goes on.
  busy.errors(1, 1s, 0.5);
  CHECK(busy.share(kP2) == 1);
}

// No other class would gain what it loses; with a loop of its own that has too much to do it gains
// itself.
TEST_CASE("a single class is refused only for what the event loop itself has to do") {
  const auto share = [](std::size_t classes, Reason reason, double use) {
    ShareRegulator regulator(settings(), classes);
    OverloadSignals signals;
    signals.error_rate = 0.5;
    signals.event_loop_lag = 0.1;
    signals.event_loop_use = use;
    signals.inflight = 10;
    signals.completed_rate = 100;
    TimePoint now = TimePoint{} + 1h;
    for (int i = 0; i < 60; ++i) regulator.step(signals, reason, now += 100ms);
    return regulator.share(classes - 1);
  };
  CHECK(share(2, Reason::error_burst, 0.5) == 1);
  CHECK(share(1, Reason::error_burst, 0.5) == 0);
  CHECK(share(2, Reason::event_loop_lag, 0.5) == 1);
  CHECK(share(1, Reason::event_loop_lag, 0.5) == 0);
  CHECK(share(1, Reason::event_loop_lag, 0.95) == 1);
}
