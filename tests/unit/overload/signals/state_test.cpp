#include "overload/signals/state.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

const TimePoint kStart = TimePoint{} + 1h;

OverloadSignals with_inflight(double ratio) {
  OverloadSignals signals;
  signals.inflight_ratio = ratio;
  return signals;
}

}  // namespace

TEST_CASE("any enter threshold reached enters OVERLOADED with its reason") {
  config::Overload settings;
  settings.enter.latency_p95 = 500ms;
  settings.exit.latency_p95 = 350ms;
  settings.enter.latency_p99 = 900ms;
  settings.exit.latency_p99 = 700ms;
  const auto enters = [&](auto set) {
    StateMachine machine(settings);
    OverloadSignals signals;
    set(signals);
    const auto transition = machine.step(signals, kStart);
    CHECK(machine.since() == (transition ? std::optional(kStart) : std::nullopt));
    return transition ? transition->reason : Reason::none;
  };
  CHECK(enters([](auto& s) { s.queue_ratio = 0.8; }) == Reason::queue_saturation);
  CHECK(enters([](auto& s) { s.queue_wait_p95 = 0.2; }) == Reason::queue_wait_risk);
  CHECK(enters([](auto& s) { s.latency_p95 = 0.5; }) == Reason::tail_latency);
  CHECK(enters([](auto& s) { s.latency_p99 = 0.9; }) == Reason::tail_latency);
  CHECK(enters([](auto& s) { s.latency_p95_ratio = 3; }) == Reason::tail_latency);
  CHECK(enters([](auto& s) { s.event_loop_lag = 0.2; }) == Reason::event_loop_lag);
  CHECK(enters([](auto& s) { s.error_rate = 0.2; }) == Reason::error_burst);
  CHECK(enters([](auto& s) { s.inflight_ratio = 0.95; }) == Reason::inflight_saturation);
  CHECK(enters([](auto& s) {
          s.queue_ratio = 0.79;
          s.queue_wait_p95 = 0.199;
          s.latency_p95 = 0.49;
          s.latency_p99 = 0.89;
          s.latency_p95_ratio = 2.99;
          s.event_loop_lag = 0.199;
          s.error_rate = 0.19;
          s.inflight_ratio = 0.94;
        }) == Reason::none);
}

TEST_CASE("a threshold that is not set takes no part") {
  StateMachine machine{config::Overload{}};
  OverloadSignals signals;
  signals.latency_p95 = 60;  // off unless configured
  CHECK_FALSE(machine.step(signals, kStart));
  CHECK(machine.state() == State::normal);
}

TEST_CASE("the reason is the most alarming breached signal") {
  config::Thresholds enter = config::Overload{}.enter;
  enter.latency_p95 = 500ms;
  OverloadSignals s;
  CHECK(breached(enter, s) == Reason::none);
  s.inflight_ratio = 1;
  CHECK(breached(enter, s) == Reason::inflight_saturation);
  s.error_rate = 1;
  CHECK(breached(enter, s) == Reason::error_burst);
  s.event_loop_lag = 1;
  CHECK(breached(enter, s) == Reason::event_loop_lag);
  s.latency_p95 = 1;
  CHECK(breached(enter, s) == Reason::tail_latency);
  s.queue_wait_p95 = 1;
  CHECK(breached(enter, s) == Reason::queue_wait_risk);
  s.queue_ratio = 1;
  CHECK(breached(enter, s) == Reason::queue_saturation);
}

TEST_CASE("leaving needs the cooldown and every exit threshold") {
  StateMachine machine{config::Overload{}};
  REQUIRE(machine.step(with_inflight(0.96), kStart));
  CHECK_FALSE(machine.step(with_inflight(0.1), kStart + 1999ms));
  CHECK_FALSE(machine.step(with_inflight(0.91), kStart + 2000ms));
  OverloadSignals lagging = with_inflight(0.1);
  lagging.event_loop_lag = 0.121;
  CHECK_FALSE(machine.step(lagging, kStart + 2100ms));
  const auto left = machine.step(with_inflight(0.9), kStart + 2200ms);
  REQUIRE(left);
  CHECK(left->from == State::overloaded);
  CHECK(left->to == State::normal);
  CHECK(machine.state() == State::normal);
  CHECK(machine.reason() == Reason::none);
}

TEST_CASE("no evidence satisfies the exit thresholds") {
  StateMachine machine{config::Overload{}};
  REQUIRE(machine.step(with_inflight(1), kStart));
  CHECK(machine.step(OverloadSignals{}, kStart + 2s));
}

TEST_CASE("the reason is the signal breached now, else the one of the entry") {
  StateMachine machine{config::Overload{}};
  machine.step(with_inflight(1), kStart);
  CHECK(machine.reason() == Reason::inflight_saturation);
  OverloadSignals errors;
  errors.error_rate = 0.5;
  CHECK_FALSE(machine.step(errors, kStart + 100ms));
  CHECK(machine.reason() == Reason::error_burst);
  CHECK_FALSE(machine.step(OverloadSignals{}, kStart + 200ms));
  CHECK(machine.state() == State::overloaded);
  CHECK(machine.reason() == Reason::inflight_saturation);
}

TEST_CASE("hysteresis and cooldown keep a noisy signal from flapping") {
  const auto transitions = [](const config::Overload& settings) {
    StateMachine machine(settings);
    int count = 0;
    for (int tick = 0; tick < 600; ++tick) {
      const double ratio = tick % 2 == 0 ? 0.97 : 0.91;
      if (machine.step(with_inflight(ratio), kStart + tick * 100ms)) ++count;
    }
    return count;
  };
  CHECK(transitions(config::Overload{}) == 1);

  config::Overload bare;  // the same without hysteresis and cooldown flaps at every tick
  bare.exit.inflight_ratio = bare.enter.inflight_ratio;
  bare.cooldown = 0ms;
  CHECK(transitions(bare) > 500);

  config::Overload only_cooldown;
  only_cooldown.exit.inflight_ratio = only_cooldown.enter.inflight_ratio;
  CHECK(transitions(only_cooldown) > 20);
}

TEST_CASE("another machine goes on in the same state with its cooldown anew") {
  StateMachine former{config::Overload{}};
  former.step(with_inflight(1), kStart);
  REQUIRE(former.state() == State::overloaded);
  config::Overload settings;
  settings.cooldown = 3s;
  StateMachine next(settings);
  next.continue_from(former, kStart + 10s);
  CHECK(next.state() == State::overloaded);
  CHECK(next.reason() == Reason::inflight_saturation);
  CHECK_FALSE(next.step(with_inflight(0), kStart + 12s));
  CHECK(next.step(with_inflight(0), kStart + 13s));
}

TEST_CASE("a state that the new settings do not have becomes the highest below it") {
  StateMachine former{config::Overload{}};
  former.step(with_inflight(1), kStart);
  config::Overload settings;
  settings.stages.emplace_back().name = State::elevated;
  settings.stages.emplace_back().name = State::critical;
  StateMachine next(settings);
  next.continue_from(former, kStart);
  CHECK(next.state() == State::elevated);
  StateMachine calm{config::Overload{}};
  StateMachine after_calm(settings);
  after_calm.continue_from(calm, kStart);
  CHECK(after_calm.state() == State::normal);
  CHECK_FALSE(after_calm.since());
}
