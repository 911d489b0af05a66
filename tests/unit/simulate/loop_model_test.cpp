#include "simulate/loop_model.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace spillway::simulate {
namespace {

using namespace std::chrono_literals;
constexpr TimePoint kStart = TimePoint{} + 1h;

}  // namespace

TEST_CASE("requests are taken in the order of arrival and a refusal takes half the time") {
  LoopModel loop(400us);
  Request first, second;
  loop.add(first);
  loop.add(second);
  CHECK(loop.take(kStart) == &first);
  CHECK(loop.work(false) == 400us);
  CHECK_FALSE(loop.is_idle());
  loop.done();
  CHECK(loop.take(kStart) == &second);
  CHECK(loop.work(true) == 200us);
  loop.done();
  CHECK(loop.take(kStart) == nullptr);
}

TEST_CASE("a timer behind a busy loop is late by what is before it") {
  LoopModel loop(400us);
  for (int i = 0; i < 30; ++i) {
    const TimePoint due = kStart + i * 10ms;
    loop.timer_due(due);
    loop.timer_due(due + 1ms);  // not set again before it has fired
    CHECK(loop.take(due + 7ms) == nullptr);
  }
  CHECK(loop.lag(kStart + 300ms) == Duration(7ms));
  CHECK_FALSE(LoopModel(0us).lag(kStart).has_value());
}

}  // namespace spillway::simulate
