#include "overload/admission/queue_order.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

constexpr ClassId kHighest{0}, kMiddle{1};

config::Dispatch dispatch_with(config::OverloadOrder order) {
  config::Dispatch dispatch;
  dispatch.overload_order = order;
  return dispatch;
}

// With its clock.
struct Choice {
  explicit Choice(config::OverloadOrder order, std::size_t classes = 3)
      : choice(dispatch_with(order), classes) {}

  QueueOrder step(std::optional<double> answered, State state, Duration for_time = 100ms) {
    QueueOrder order{};
    for (Duration passed{0}; passed < for_time; passed += 100ms)
      order = choice.step(answered, state, now += 100ms);
    return order;
  }

  QueueOrderChoice choice;
  TimePoint now{};
};

constexpr Duration kLong = 1100ms;

}  // namespace

TEST_CASE("adaptive: in order of arrival until clients leave, then the newest") {
  Choice choice(config::OverloadOrder::adaptive);
  CHECK(choice.step(std::nullopt, State::overloaded) == QueueOrder::oldest_first);
  CHECK(choice.step(1.0, State::overloaded) == QueueOrder::oldest_first);
  CHECK(choice.step(0.87, State::overloaded, kLong) == QueueOrder::oldest_first);
  CHECK(choice.step(0.8, State::overloaded, kLong) == QueueOrder::newest_first);
  // Served newest first they stay. That alone is no reason to begin again.
  CHECK(choice.step(1.0, State::overloaded) == QueueOrder::newest_first);
  CHECK(choice.step(std::nullopt, State::critical) == QueueOrder::newest_first);
  CHECK(choice.step(0.2, State::normal) == QueueOrder::oldest_first);
  CHECK(choice.step(1.0, State::overloaded) == QueueOrder::oldest_first);
}

TEST_CASE(
    "adaptive: once clients stay, the order of arrival is tried, ever later where they leave") {
  Choice choice(config::OverloadOrder::adaptive);
  for (const Duration stay : {10s, 40s, 160s, 640s, 640s}) {
    CAPTURE(stay.count());
    CHECK(choice.step(0.5, State::overloaded, kLong) == QueueOrder::newest_first);
    CHECK(choice.step(0.96, State::overloaded, stay) == QueueOrder::newest_first);
    CHECK(choice.step(0.9, State::overloaded) == QueueOrder::newest_first);  // not for so long
    CHECK(choice.step(0.96, State::overloaded, stay) == QueueOrder::newest_first);
    CHECK(choice.step(std::nullopt, State::overloaded) == QueueOrder::newest_first);
    CHECK(choice.step(0.96, State::overloaded, stay) == QueueOrder::newest_first);
    CHECK(choice.step(0.96, State::overloaded) == QueueOrder::oldest_first);
    CHECK(choice.step(0.96, State::overloaded, 11s) == QueueOrder::oldest_first);
  }
  // In the ten seconds of the trial they are seen to leave sooner.
  CHECK(choice.step(0.5, State::overloaded, kLong) == QueueOrder::newest_first);
  CHECK(choice.step(0.96, State::overloaded, 641s) == QueueOrder::oldest_first);
  CHECK(choice.step(0.5, State::overloaded, 300ms) == QueueOrder::newest_first);
  // After a minute in order of arrival they begin anew.
  CHECK(choice.step(0.96, State::overloaded, 641s + 70s) == QueueOrder::oldest_first);
  CHECK(choice.step(0.5, State::overloaded, kLong) == QueueOrder::newest_first);
  CHECK(choice.step(0.96, State::overloaded, 10200ms) == QueueOrder::oldest_first);
  // So does another overload.
  choice.step(0.96, State::normal);
  CHECK(choice.step(0.5, State::overloaded, kLong) == QueueOrder::newest_first);
  CHECK(choice.step(0.96, State::overloaded, kLong + 10s) == QueueOrder::oldest_first);
}

TEST_CASE("a crowd that only looks for some ticks as if it had left changes nothing") {
  Choice choice(config::OverloadOrder::adaptive);
  for (int again = 0; again < 5; ++again) {
    CHECK(choice.step(0.1, State::overloaded, 900ms) == QueueOrder::oldest_first);
    CHECK(choice.step(0.9, State::overloaded) == QueueOrder::oldest_first);
  }
}

TEST_CASE("adaptive keeps the order of arrival where waiters do not expire") {
  config::Dispatch dispatch = dispatch_with(config::OverloadOrder::adaptive);
  dispatch.late = config::Late::process_with_tag;
  Choice choice(config::OverloadOrder::adaptive);
  choice.choice = QueueOrderChoice(dispatch, 3);
  CHECK(choice.step(0.1, State::overloaded, kLong) == QueueOrder::oldest_first);
}

TEST_CASE("fifo and lifo do not go by the clients") {
  Choice fifo(config::OverloadOrder::fifo);
  CHECK(fifo.step(0.0, State::overloaded, kLong) == QueueOrder::oldest_first);
  Choice lifo(config::OverloadOrder::lifo);
  CHECK(lifo.step(1.0, State::normal) == QueueOrder::oldest_first);
  CHECK(lifo.step(1.0, State::overloaded) == QueueOrder::newest_first_below);
  Choice alone(config::OverloadOrder::lifo, 1);
  CHECK(alone.step(1.0, State::overloaded) == QueueOrder::newest_first);
}

TEST_CASE("the highest of several classes is served newest first only where clients leave") {
  CHECK_FALSE(is_newest_first(QueueOrder::oldest_first, kMiddle));
  CHECK_FALSE(is_newest_first(QueueOrder::newest_first_below, kHighest));
  CHECK(is_newest_first(QueueOrder::newest_first_below, kMiddle));
  CHECK(is_newest_first(QueueOrder::newest_first, kHighest));
}

TEST_CASE("a reload keeps what was seen of clients, and not the order of another setting") {
  Choice former(config::OverloadOrder::adaptive);
  former.step(0.1, State::overloaded, kLong);
  Choice next(config::OverloadOrder::adaptive);
  next.choice.continue_from(former.choice);
  CHECK(next.step(std::nullopt, State::overloaded) == QueueOrder::newest_first);

  for (const std::size_t classes : {1u, 3u}) {
    Choice lifo(config::OverloadOrder::lifo, classes);
    lifo.step(1.0, State::overloaded);
    Choice after_lifo(config::OverloadOrder::adaptive, classes);
    after_lifo.choice.continue_from(lifo.choice);
    CHECK(after_lifo.step(1.0, State::overloaded) == QueueOrder::oldest_first);
  }
  Choice fifo(config::OverloadOrder::fifo);
  fifo.choice.continue_from(former.choice);
  CHECK(fifo.step(0.1, State::overloaded, kLong) == QueueOrder::oldest_first);
}
