#include "simulate/report/states.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace spillway::simulate {
namespace {

Recording run_of(std::size_t seconds, std::vector<StateChange> changes) {
  Recording run;
  run.seconds.resize(seconds);
  run.changes = std::move(changes);
  return run;
}

}  // namespace

TEST_CASE("a run without changes is one stretch of NORMAL") {
  const auto spans = state_spans(run_of(60, {}));
  REQUIRE(spans.size() == 1);
  CHECK(spans[0].from == 0);
  CHECK(spans[0].to == 60);
  CHECK(spans[0].state == State::normal);
}

TEST_CASE("an empty run has no states") {
  CHECK(state_spans(Recording{}).empty());
  CHECK(state_spans(run_of(0, {{1, State::critical, Reason::error_burst}})).empty());
}

TEST_CASE("changes cut a run into stretches to the tenth of a second") {
  const Recording run = run_of(60, {{10.4, State::overloaded, Reason::queue_wait_risk},
                                    {50.9, State::normal, Reason::none}});
  const auto spans = state_spans(run);
  REQUIRE(spans.size() == 3);
  CHECK(spans[1].from == doctest::Approx(10.4));
  CHECK(spans[1].to == doctest::Approx(50.9));
  CHECK(spans[1].reason == Reason::queue_wait_risk);
  CHECK(spans[2].to == 60);
  const auto times = time_per_state(run);
  CHECK(times[index(State::normal)] == doctest::Approx(19.5));
  CHECK(times[index(State::overloaded)] == doctest::Approx(40.5));
  CHECK(times[index(State::critical)] == 0);
}

TEST_CASE("changes outside the run or out of order leave no gap and no overlap") {
  const auto spans = state_spans(run_of(
      10, {{-3, State::elevated, Reason::tail_latency},
           {5, State::overloaded, Reason::tail_latency},
           {4, State::critical, Reason::tail_latency},
           {std::numeric_limits<double>::quiet_NaN(), State::overloaded, Reason::tail_latency},
           {99, State::normal, Reason::none}}));
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].state == State::elevated);
  CHECK(spans[0].from == 0);
  CHECK(spans[0].to == 5);
  CHECK(spans[1].state == State::critical);
  CHECK(spans[1].to == 10);
}

TEST_CASE("NORMAL has no reason even when the change to it tells the last one") {
  const auto spans = state_spans(run_of(
      10, {{2, State::critical, Reason::error_burst}, {5, State::normal, Reason::error_burst}}));
  REQUIRE(spans.size() == 3);
  CHECK(spans[1].reason == Reason::error_burst);
  CHECK(spans[2].reason == Reason::none);
}

TEST_CASE("only a run without shedding and without changes has no states") {
  Recording run = run_of(10, {});
  CHECK(has_states(run));
  run.shedding = false;
  CHECK(!has_states(run));
  run.changes.push_back({1, State::elevated, Reason::tail_latency});
  CHECK(has_states(run));
}

}  // namespace spillway::simulate
