#include "overload/queue_order.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::overload;

namespace {

constexpr ClassId kHighest{0}, kMiddle{1};

}  // namespace

TEST_CASE("adaptive: in order of arrival until clients leave, then the newest until the end") {
  QueueOrderChoice choice(config::OverloadOrder::adaptive, 3);
  CHECK(choice.step(std::nullopt, State::overloaded) == QueueOrder::oldest_first);
  CHECK(choice.step(1.0, State::overloaded) == QueueOrder::oldest_first);
  CHECK(choice.step(0.75, State::overloaded) == QueueOrder::oldest_first);
  CHECK(choice.step(0.6, State::overloaded) == QueueOrder::newest_first);
  // Served newest first they stay. That is no reason to begin again.
  CHECK(choice.step(1.0, State::overloaded) == QueueOrder::newest_first);
  CHECK(choice.step(std::nullopt, State::critical) == QueueOrder::newest_first);
  CHECK(choice.step(0.2, State::normal) == QueueOrder::oldest_first);
  CHECK(choice.step(1.0, State::overloaded) == QueueOrder::oldest_first);
}

TEST_CASE("fifo and lifo do not go by the clients") {
  QueueOrderChoice fifo(config::OverloadOrder::fifo, 3);
  CHECK(fifo.step(0.0, State::overloaded) == QueueOrder::oldest_first);
  QueueOrderChoice lifo(config::OverloadOrder::lifo, 3);
  CHECK(lifo.step(1.0, State::normal) == QueueOrder::oldest_first);
  CHECK(lifo.step(1.0, State::overloaded) == QueueOrder::newest_first_below);
  QueueOrderChoice alone(config::OverloadOrder::lifo, 1);
  CHECK(alone.step(1.0, State::overloaded) == QueueOrder::newest_first);
}

TEST_CASE("the highest of several classes is served newest first only where clients leave") {
  CHECK_FALSE(is_newest_first(QueueOrder::oldest_first, kMiddle));
  CHECK_FALSE(is_newest_first(QueueOrder::newest_first_below, kHighest));
  CHECK(is_newest_first(QueueOrder::newest_first_below, kMiddle));
  CHECK(is_newest_first(QueueOrder::newest_first, kHighest));
}

TEST_CASE("a reload keeps what was seen of clients, and not the order of another setting") {
  QueueOrderChoice former(config::OverloadOrder::adaptive, 3);
  former.step(0.1, State::overloaded);
  QueueOrderChoice next(config::OverloadOrder::adaptive, 3);
  next.continue_from(former);
  CHECK(next.step(std::nullopt, State::overloaded) == QueueOrder::newest_first);

  QueueOrderChoice lifo(config::OverloadOrder::lifo, 3);
  lifo.step(1.0, State::overloaded);
  QueueOrderChoice after_lifo(config::OverloadOrder::adaptive, 3);
  after_lifo.continue_from(lifo);
  CHECK(after_lifo.step(1.0, State::overloaded) == QueueOrder::oldest_first);
  QueueOrderChoice fifo(config::OverloadOrder::fifo, 3);
  fifo.continue_from(former);
  CHECK(fifo.step(0.1, State::overloaded) == QueueOrder::oldest_first);
}
