#include "overload/control/budget_hold.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

struct Rates {
  double offered, completed;
};

// An upstream that can do 400 requests a second.
class Loop {
 public:
  explicit Loop(const config::Overload& settings = {}) : hold_(settings) {}

  void run(Duration time, State state, Rates rates, bool refuses = true) {
    OverloadSignals signals;
    signals.offered_rate = rates.offered;
    signals.served_rate = rates.completed;
    for (const TimePoint end = now_ + time; now_ < end; now_ += 100ms)
      hold_.step(signals, {refuses, state, reason}, now_);
  }
  void run_normally(Duration time, Rates rates) { run(time, State::normal, rates, false); }
  bool holds() const { return hold_.is_holding(); }

  Reason reason = Reason::tail_latency;

 private:
  BudgetHold hold_;
  TimePoint now_{};
};

constexpr Rates kUsual{200, 200}, kBegins{600, 400}, kRefused{600, 220};

}  // namespace

TEST_CASE("a state lasts while budgets refuse what would bring it back") {
  Loop loop;
  loop.run_normally(10s, kUsual);
  loop.run_normally(1s, kBegins);
  loop.run(30s, State::overloaded, kRefused);
  CHECK(loop.holds());
}

TEST_CASE("it may end when no more is offered than the upstream did, or no budget refuses") {
  Loop loop;
  loop.run_normally(1s, kBegins);
  loop.run(3s, State::overloaded, kRefused);
  CHECK(loop.holds());
  loop.run(1s, State::overloaded, {430, 220});
  CHECK_FALSE(loop.holds());
  loop.run(1s, State::overloaded, kRefused);
  CHECK(loop.holds());
  loop.run(1100ms, State::overloaded, kRefused, false);
  CHECK_FALSE(loop.holds());
}

TEST_CASE("a pause of an upstream that does what is offered holds nothing") {
  Loop loop;
  loop.run_normally(60s, {100, 100});
  loop.run(3s, State::overloaded, {100, 0});
  loop.run(1s, State::overloaded, {105, 60});
  CHECK_FALSE(loop.holds());
}

TEST_CASE("no budget holds a state for lag or errors, nor without regulation") {
  for (const Reason reason : {Reason::event_loop_lag, Reason::error_burst}) {
    Loop loop;
    loop.reason = reason;
    loop.run(3s, State::overloaded, kRefused);
    CHECK_FALSE(loop.holds());
  }
  config::Overload settings;
  settings.regulate = false;
  Loop textbook(settings);
  textbook.run(3s, State::overloaded, kRefused);
  CHECK_FALSE(textbook.holds());
}

TEST_CASE("in shadow mode a budget holds what it would hold") {
  config::Overload settings;
  settings.mode = config::Mode::shadow;
  Loop shadow(settings);
  shadow.run_normally(1s, kBegins);
  shadow.run(3s, State::overloaded, kRefused);
  CHECK(shadow.holds());
}

TEST_CASE("after a minute the state may end, for the upstream may do more by now") {
  Loop loop;
  loop.run_normally(1s, kBegins);
  loop.run(59s, State::overloaded, kRefused);
  CHECK(loop.holds());
  loop.run(2s, State::overloaded, kRefused);
  CHECK_FALSE(loop.holds());

  SUBCASE("it comes back: after two the next time") {
    loop.run_normally(3s, kBegins);
    loop.run(119s, State::overloaded, kRefused);
    CHECK(loop.holds());
    loop.run(2s, State::overloaded, kRefused);
    CHECK_FALSE(loop.holds());
  }
  SUBCASE("it stays away: after one again") {
    loop.run_normally(2min, {600, 600});
    loop.run(59s, State::overloaded, {800, 220});
    CHECK(loop.holds());
    loop.run(2s, State::overloaded, {800, 220});
    CHECK_FALSE(loop.holds());
  }
  SUBCASE("a lower state of a ladder may end too, and a higher one is held anew") {
    loop.run(5s, State::elevated, kRefused);
    CHECK_FALSE(loop.holds());
    loop.run(1s, State::critical, kRefused);
    CHECK(loop.holds());
  }
}

TEST_CASE("a new configuration goes on with what was seen, by its own mode") {
  OverloadSignals signals;
  signals.offered_rate = 600;
  const BudgetHold::Input refusing{true, State::overloaded, Reason::tail_latency};
  BudgetHold former{config::Overload{}};
  former.step(signals, refusing, TimePoint{});
  CHECK(former.is_holding());
  BudgetHold next{config::Overload{}};
  next.continue_from(former);
  CHECK(next.is_holding());
  config::Overload settings;
  settings.regulate = false;
  BudgetHold textbook{settings};
  textbook.continue_from(former);
  textbook.step(signals, refusing, TimePoint{} + 100ms);
  CHECK_FALSE(textbook.is_holding());
}
