#include "overload/admission/queue_order.hpp"

#include <algorithm>

namespace spillway::overload {
namespace {

// If a smaller share of the dispatched requests is answered, clients leave.
constexpr double kClientsLeave = 0.85;
constexpr Duration kHaveToLeaveFor = std::chrono::seconds(1);
// Once at least this share is answered for this time, the order of arrival is tried again; each
// time that clients then leave, that time grows fourfold. In a trial less leaving time is needed.
constexpr double kClientsStay = 0.95;
constexpr Duration kFirstStay = std::chrono::seconds(10);
constexpr int kLater = 4;
// After this time the trial has succeeded: clients that leave then start from the first wait.
constexpr Duration kTrialHolds = std::chrono::minutes(1);
constexpr Duration kLongestStay = std::chrono::seconds(640);
constexpr Duration kOrderTrial = std::chrono::seconds(10);
constexpr Duration kHaveToLeaveInTrialFor = std::chrono::milliseconds(200);

}  // namespace

QueueOrderChoice::QueueOrderChoice(const config::Dispatch& dispatch, std::size_t classes)
    : configured_(dispatch.overload_order), classes_(classes), stay_for_(kFirstStay) {
  const bool may_expire = dispatch.late != config::Late::process_with_tag;
  if (configured_ == config::OverloadOrder::adaptive && !may_expire)
    configured_ = config::OverloadOrder::fifo;
}

void QueueOrderChoice::continue_from(const QueueOrderChoice& former) {
  if (former.configured_ != config::OverloadOrder::adaptive) return;
  order_ = former.order_;
  stay_for_ = former.stay_for_;
}

QueueOrder QueueOrderChoice::step(std::optional<double> answered, State state, TimePoint now) {
  using enum config::OverloadOrder;
  const bool leave = answered && *answered < kClientsLeave;
  if (!leave)
    leaving_since_.reset();
  else if (!leaving_since_)
    leaving_since_ = now;
  if (state == State::normal || configured_ == fifo) {
    order_ = QueueOrder::oldest_first;
    stay_for_ = kFirstStay;
    tried_.reset();
  } else if (configured_ == lifo) {
    order_ = classes_ > 1 ? QueueOrder::newest_first_below : QueueOrder::newest_first;
  } else {
    adapt(answered, now);
  }
  return order_;
}

void QueueOrderChoice::adapt(std::optional<double> answered, TimePoint now) {
  if (order_ == QueueOrder::oldest_first) {
    const bool is_trial = tried_ && now - *tried_ < kOrderTrial;
    const Duration least = is_trial ? kHaveToLeaveInTrialFor : kHaveToLeaveFor;
    if (!leaving_since_ || now - *leaving_since_ < least) return;
    order_ = QueueOrder::newest_first;
    staying_since_.reset();
    if (tried_ && now - *tried_ >= kTrialHolds) stay_for_ = kFirstStay;
    return;
  }
  if (!answered || *answered < kClientsStay)
    staying_since_.reset();
  else if (!staying_since_)
    staying_since_ = now;
  if (!staying_since_ || now - *staying_since_ < stay_for_) return;
  order_ = QueueOrder::oldest_first;
  tried_ = now;
  stay_for_ = std::min(kLater * stay_for_, kLongestStay);
}

}  // namespace spillway::overload
