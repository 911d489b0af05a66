#include "overload/queue_order.hpp"

namespace spillway::overload {
namespace {

// Where fewer of the dispatched requests are answered, clients leave.
constexpr double kClientsStay = 0.7;
constexpr Duration kHaveToLeaveFor = std::chrono::seconds(1);

}  // namespace

QueueOrderChoice::QueueOrderChoice(const config::Dispatch& dispatch, std::size_t classes)
    : configured_(dispatch.overload_order), classes_(classes) {
  const bool may_expire = dispatch.late != config::Late::process_with_tag;
  if (configured_ == config::OverloadOrder::adaptive && !may_expire)
    configured_ = config::OverloadOrder::fifo;
}

void QueueOrderChoice::continue_from(const QueueOrderChoice& former) {
  if (former.configured_ == config::OverloadOrder::adaptive) order_ = former.order_;
}

QueueOrder QueueOrderChoice::step(std::optional<double> answered, State state, TimePoint now) {
  using enum config::OverloadOrder;
  const bool leave = answered && *answered < kClientsStay;
  if (!leave)
    leaving_since_.reset();
  else if (!leaving_since_)
    leaving_since_ = now;
  if (state == State::normal || configured_ == fifo) {
    order_ = QueueOrder::oldest_first;
  } else if (configured_ == lifo) {
    order_ = classes_ > 1 ? QueueOrder::newest_first_below : QueueOrder::newest_first;
  } else if (leaving_since_ && now - *leaving_since_ >= kHaveToLeaveFor) {
    order_ = QueueOrder::newest_first;
  }
  return order_;
}

}  // namespace spillway::overload
