#include "overload/queue_order.hpp"

namespace spillway::overload {
namespace {

// Where fewer of the dispatched requests are answered, clients leave.
constexpr double kClientsStay = 0.7;

}  // namespace

void QueueOrderChoice::continue_from(const QueueOrderChoice& former) {
  if (former.order_ == QueueOrder::newest_first) order_ = former.order_;
}

QueueOrder QueueOrderChoice::step(std::optional<double> answered, State state) {
  using enum config::OverloadOrder;
  if (state == State::normal || configured_ == fifo) {
    order_ = QueueOrder::oldest_first;
  } else if (configured_ == lifo) {
    order_ = classes_ > 1 ? QueueOrder::newest_first_below : QueueOrder::newest_first;
  } else if (answered && *answered < kClientsStay) {
    order_ = QueueOrder::newest_first;
  }
  return order_;
}

}  // namespace spillway::overload
