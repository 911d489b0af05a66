#include "simulate/model/loop_model.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <deque>

namespace spillway::simulate {
namespace {

using namespace std::chrono_literals;
constexpr TimePoint kStart = TimePoint{} + 1h;

}  // namespace

TEST_CASE("requests are taken in the order of arrival and a refusal takes half the time") {
  LoopModel loop(400us);
  Request first, second;
  loop.add(first, kStart);
  loop.add(second, kStart);
  CHECK(loop.take(kStart) == &first);
  CHECK(loop.work(false) == 400us);
  CHECK_FALSE(loop.is_idle());
  loop.done();
  CHECK(loop.take(kStart) == &second);
  CHECK(loop.work(true) == 200us);
  loop.done();
  CHECK(loop.take(kStart) == nullptr);
}

TEST_CASE("the lag is the wait of the oldest request or the lateness of the timer") {
  LoopModel loop(400us);
  for (int i = 0; i < 30; ++i) {
    const TimePoint due = kStart + i * 10ms;
    loop.timer_due(due);
    loop.timer_due(due + 1ms);  // not set again before it has fired
    CHECK(loop.take(due + 7ms) == nullptr);
  }
  CHECK(loop.lag() == Duration(7ms));
  CHECK_FALSE(LoopModel(0us).lag().has_value());

  // A request a period, while three of them have come.
  std::deque<Request> requests(300);
  for (int i = 0; i < 100; ++i) {
    const TimePoint now = kStart + 300ms + i * 10ms;
    for (int n = 0; n < 3; ++n) loop.add(requests[3 * i + n], now);
    loop.timer_due(now);
    CHECK(loop.take(now) == &requests[i]);
  }
  // At the last one those of the 33rd period were the oldest, 200 ms before that of the 26th.
  CHECK(*loop.lag() == 530ms);
}

TEST_CASE("while the loop is busy the lag stays as it was told last") {
  LoopModel loop(400us);
  for (int i = 0; i < 30; ++i) {
    loop.timer_due(kStart + i * 10ms);
    loop.take(kStart + i * 10ms + 7ms);
  }
  Request request;
  loop.add(request, kStart + 300ms);
  CHECK(loop.take(kStart + 300ms) == &request);
  loop.timer_due(kStart + 300ms);
  CHECK(loop.lag() == Duration(7ms));
  loop.work(false);
  loop.done();
  CHECK(loop.take(kStart + 5s) == nullptr);
  CHECK(loop.lag() == Duration(4700ms));
}

TEST_CASE("the use of the loop is the part of the time that its requests take") {
  LoopModel loop(6ms);
  Request request;
  for (int i = 0; i < 500; ++i) {
    const TimePoint now = kStart + i * 10ms;
    loop.add(request, now);
    CHECK(loop.take(now) == &request);
    loop.work(false);
    loop.done();
    loop.timer_due(now);
    loop.take(now);
  }
  CHECK(loop.use() == doctest::Approx(0.6).epsilon(0.02));
}

}  // namespace spillway::simulate
