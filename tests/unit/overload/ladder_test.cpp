// The ladder of overloaded states and entering by score.
#include <doctest/doctest.h>

#include <vector>

#include "overload/signals/state.hpp"

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

const TimePoint kStart = TimePoint{} + 1h;

config::Stage stage(State name, double enter, double exit, Milliseconds cooldown) {
  config::Stage out;
  out.name = name;
  out.enter.inflight_ratio = enter;
  out.exit.inflight_ratio = exit;
  out.cooldown = cooldown;
  return out;
}

// Of the inflight ratio: warn at 0.7, degrade at 0.85, deny at 0.95.
config::Overload three_stages() {
  config::Overload settings;
  settings.stages = {stage(State::elevated, 0.7, 0.6, 1000ms),
                     stage(State::overloaded, 0.85, 0.75, 2000ms),
                     stage(State::critical, 0.95, 0.9, 3000ms)};
  return settings;
}

OverloadSignals inflight(double ratio) {
  OverloadSignals signals;
  signals.inflight_ratio = ratio;
  return signals;
}

}  // namespace

TEST_CASE("the ladder is climbed to its highest breached stage at once") {
  const auto reached = [](double ratio) {
    StateMachine machine(three_stages());
    machine.step(inflight(ratio), kStart);
    return machine.state();
  };
  CHECK(reached(0.69) == State::normal);
  CHECK(reached(0.7) == State::elevated);
  CHECK(reached(0.9) == State::overloaded);
  CHECK(reached(0.95) == State::critical);
}

TEST_CASE("the ladder is climbed stage by stage as it gets worse") {
  StateMachine machine(three_stages());
  std::vector<State> states;
  for (const double ratio : {0.5, 0.72, 0.86, 0.99}) {
    if (const auto up = machine.step(inflight(ratio), kStart)) states.push_back(up->to);
  }
  CHECK(states == std::vector{State::elevated, State::overloaded, State::critical});
}

TEST_CASE("the way down is one stage at a time and each pays its cooldown") {
  StateMachine machine(three_stages());
  REQUIRE(machine.step(inflight(1), kStart));
  struct Step {
    Duration after;
    State from, to;
  };
  std::vector<Step> steps;
  for (Duration t = 0ms; t <= 10s; t += 100ms) {
    if (const auto down = machine.step(inflight(0.1), kStart + t)) {
      steps.push_back({t, down->from, down->to});
      CHECK(down->reason == Reason::inflight_saturation);
    }
  }
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].from == State::critical);
  CHECK(steps[0].to == State::overloaded);
  CHECK(steps[0].after == 3s);
  CHECK(steps[1].to == State::elevated);
  CHECK(steps[1].after == 5s);
  CHECK(steps[2].to == State::normal);
  CHECK(steps[2].after == 6s);
}

TEST_CASE("each stage has an exit of its own") {
  StateMachine machine(three_stages());
  REQUIRE(machine.step(inflight(1), kStart));
  CHECK_FALSE(machine.step(inflight(0.91), kStart + 1min));  // below its enter, above its exit
  REQUIRE(machine.step(inflight(0.9), kStart + 2min));
  CHECK(machine.state() == State::overloaded);
  // Still above the enter threshold of the stage it came down to: it stays there.
  CHECK_FALSE(machine.step(inflight(0.9), kStart + 3min));
  CHECK_FALSE(machine.step(inflight(0.76), kStart + 4min));
  REQUIRE(machine.step(inflight(0.75), kStart + 5min));
  CHECK(machine.state() == State::elevated);
  REQUIRE(machine.step(inflight(0.6), kStart + 6min));
  CHECK(machine.state() == State::normal);
}

TEST_CASE("a breach in a lower stage does not keep the machine in a higher one") {
  config::Overload settings = three_stages();
  settings.stages[0].enter.error_rate = 0.1;
  settings.stages[0].exit.error_rate = 0.05;
  StateMachine machine(settings);
  REQUIRE(machine.step(inflight(1), kStart));
  OverloadSignals errors = inflight(0.1);
  errors.error_rate = 0.3;
  machine.step(errors, kStart + 3s);
  machine.step(errors, kStart + 5s);
  CHECK(machine.state() == State::elevated);
  CHECK(machine.reason() == Reason::error_burst);
  CHECK_FALSE(machine.step(errors, kStart + 1min));
}

TEST_CASE("a stage without a cooldown of its own has that of the section") {
  config::Overload settings = three_stages();
  settings.stages.resize(1);
  settings.stages[0].cooldown.reset();
  settings.cooldown = 7000ms;
  StateMachine machine(settings);
  REQUIRE(machine.step(inflight(1), kStart));
  CHECK_FALSE(machine.step(inflight(0), kStart + 6900ms));
  CHECK(machine.step(inflight(0), kStart + 7000ms));
}

TEST_CASE("the reason is of the present stage before those below and then of the entry") {
  config::Overload settings = three_stages();
  settings.stages[0].enter.queue_ratio = 0.5;
  settings.stages[0].exit.queue_ratio = 0.4;
  settings.stages[2].enter.error_rate = 0.5;
  settings.stages[2].exit.error_rate = 0.2;
  StateMachine machine(settings);
  OverloadSignals signals = inflight(0.2);
  signals.error_rate = 0.6;
  REQUIRE(machine.step(signals, kStart));
  CHECK(machine.state() == State::critical);
  signals.queue_ratio = 0.6;  // more alarming, but of the lowest stage
  machine.step(signals, kStart + 100ms);
  CHECK(machine.reason() == Reason::error_burst);
  signals.error_rate = 0.3;
  machine.step(signals, kStart + 200ms);
  CHECK(machine.reason() == Reason::queue_saturation);
  signals.queue_ratio = 0.1;
  machine.step(signals, kStart + 300ms);
  CHECK(machine.reason() == Reason::error_burst);
  CHECK(machine.state() == State::critical);
}

TEST_CASE("a ladder does not flap under a signal that swings across one of its thresholds") {
  const auto transitions = [](const config::Overload& settings, double low, double high) {
    StateMachine machine(settings);
    int count = 0;
    for (int tick = 0; tick < 600; ++tick)
      if (machine.step(inflight(tick % 2 == 0 ? high : low), kStart + tick * 100ms)) ++count;
    return count;
  };
  for (const auto& [low, high] : {std::pair{0.66, 0.72}, {0.8, 0.87}, {0.92, 0.97}})
    CHECK(transitions(three_stages(), low, high) == 1);

  config::Overload bare = three_stages();  // the same without hysteresis and cooldown flaps
  for (config::Stage& each : bare.stages) {
    each.exit = each.enter;
    each.cooldown = 0ms;
  }
  for (const auto& [low, high] : {std::pair{0.66, 0.72}, {0.8, 0.87}, {0.92, 0.97}})
    CHECK(transitions(bare, low, high) > 500);
}

namespace {

// Queue and errors at half their thresholds are worth one together.
config::Overload by_score() {
  config::Overload settings;
  settings.enter = {};
  settings.exit = {};
  settings.enter.queue_ratio = 0.8;
  settings.exit.queue_ratio = 0.7;
  settings.enter.error_rate = 0.4;
  settings.exit.error_rate = 0.35;
  settings.enter_by = config::EnterBy::score;
  settings.score = {1.5, 1.0, {}};
  return settings;
}

OverloadSignals queue_and_errors(double queue_ratio, double error_rate) {
  OverloadSignals signals;
  signals.queue_ratio = queue_ratio;
  signals.error_rate = error_rate;
  return signals;
}

}  // namespace

TEST_CASE("a score adds up what single signals would not enter for") {
  StateMachine machine(by_score());
  CHECK_FALSE(machine.step(queue_and_errors(0.6, 0.29), kStart));  // 0.75 + 0.725
  REQUIRE(machine.step(queue_and_errors(0.6, 0.31), kStart));      // 0.75 + 0.775
  CHECK(machine.state() == State::overloaded);
  CHECK(machine.reason() == Reason::error_burst);  // the larger part; nothing is breached

  config::Overload any = by_score();
  any.enter_by = config::EnterBy::any;
  CHECK_FALSE(StateMachine(any).step(queue_and_errors(0.79, 0.39), kStart));
}

TEST_CASE("one breached signal alone is not a score") {
  StateMachine machine(by_score());
  CHECK_FALSE(machine.step(queue_and_errors(1.0, 0), kStart));  // 1.25
  REQUIRE(machine.step(queue_and_errors(1.0, 0.11), kStart));
  CHECK(machine.reason() == Reason::queue_saturation);
}

TEST_CASE("a score is left when the sum is down to its exit") {
  config::Overload settings = by_score();
  settings.exit.queue_ratio = 0.79;
  settings.exit.error_rate = 0.39;
  StateMachine machine(settings);
  REQUIRE(machine.step(queue_and_errors(0.8, 0.4), kStart));
  CHECK_FALSE(machine.step(queue_and_errors(0.44, 0.2), kStart + 1min));  // 0.55 + 0.5
  CHECK_FALSE(machine.step(queue_and_errors(0.795, 0), kStart + 2min));   // above its exit
  CHECK_FALSE(machine.step(queue_and_errors(0.1, 0), kStart + 1999ms));
  CHECK(machine.step(queue_and_errors(0.4, 0.2), kStart + 3min));  // 0.5 + 0.5
}

TEST_CASE("weights count and signals without evidence or threshold add nothing") {
  const config::Overload settings = by_score();
  config::SignalWeights weights;
  weights.queue_ratio = 3;
  weights.error_rate = 0;
  Scored result = scored(settings.enter, weights, queue_and_errors(0.4, 1));
  CHECK(result.sum == doctest::Approx(1.5));
  CHECK(result.largest == Reason::queue_saturation);

  OverloadSignals signals;
  signals.latency_p95 = 100;  // no threshold
  result = scored(settings.enter, {}, signals);
  CHECK(result.sum == 0);
  CHECK(result.largest == Reason::none);
  // Among equals the more alarming one.
  CHECK(scored(settings.enter, {}, queue_and_errors(0.4, 0.2)).largest == Reason::queue_saturation);
}

TEST_CASE("of a ratio to the quiet time what exceeds one counts for the score") {
  config::Thresholds enter;
  enter.latency_p95_ratio = 3;
  OverloadSignals signals;
  const auto sum = [&](double ratio) {
    signals.latency_p95_ratio = ratio;
    return scored(enter, {}, signals).sum;
  };
  CHECK(sum(0.8) == 0);
  CHECK(sum(1) == 0);
  CHECK(sum(2) == doctest::Approx(0.5));
  CHECK(sum(3) == doctest::Approx(1));
}

TEST_CASE("a ladder by score climbs each stage by that stage's thresholds") {
  config::Overload settings = three_stages();
  settings.enter_by = config::EnterBy::score;
  settings.score = {1.1, 1.0, {}};
  StateMachine machine(settings);
  CHECK_FALSE(machine.step(inflight(0.76), kStart));
  machine.step(inflight(0.78), kStart);
  CHECK(machine.state() == State::elevated);
  machine.step(inflight(0.94), kStart);
  CHECK(machine.state() == State::overloaded);
  machine.step(inflight(1.05), kStart);
  CHECK(machine.state() == State::critical);
}
