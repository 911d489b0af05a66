// The order within a class while the upstream is overloaded: the oldest or the newest waiter first
// (`dispatch.overload_order`).
//
// In order of arrival every waiter of an overloaded class has waited for about as long as clients
// are willing to, so that the upstream works for clients that leave meanwhile. With the newest
// first, the requests that are served have clients that are still there, and those whose clients
// leave were not served. With patient clients this order only makes the waits unequal, and waiters
// that newer ones overtake wait in vain. So `adaptive` keeps the order of arrival until clients
// leave, and then serves the newest first until the overload ends, or until clients have stayed for
// a while: the cause may be gone by then, as when a limit that was too high has been corrected.
// Only a trial shows whether they also stay in order of arrival; each time they do not, the next
// trial comes four times as late. Known as adaptive LIFO (Maurer, "Fail at scale", ACM Queue 13(8),
// 2015). Where waiters do not expire (Late::process_with_tag) it keeps the order of arrival: the
// oldest would wait until the overload ends.
//
// Pure; stepped by the control tick.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.hpp"
#include "base/state.hpp"
#include "base/time.hpp"
#include "config/config.hpp"

namespace spillway::overload {

enum class QueueOrder : std::uint8_t {
  oldest_first,
  newest_first_below,  // except in the highest of several classes
  newest_first,
};

inline bool is_newest_first(QueueOrder order, ClassId traffic_class) {
  return order == QueueOrder::newest_first ||
         (order == QueueOrder::newest_first_below && index(traffic_class) > 0);
}

class QueueOrderChoice {
 public:
  QueueOrderChoice(const config::Dispatch& dispatch, std::size_t classes);

  // After a reload: keeps the order in use and the time until the next trial.
  void continue_from(const QueueOrderChoice& former);

  // `answered`: recent share of the dispatched requests whose clients stayed; nullopt: too few to
  // say. A burst dispatched within a tick looks for a moment as if its clients had left, so a low
  // share has to last.
  QueueOrder step(std::optional<double> answered, State state, TimePoint now);

 private:
  void adapt(std::optional<double> answered, TimePoint now);

  config::OverloadOrder configured_;
  std::size_t classes_;
  QueueOrder order_ = QueueOrder::oldest_first;
  std::optional<TimePoint> leaving_since_;
  std::optional<TimePoint> staying_since_;  // while the newest is first
  std::optional<TimePoint> tried_;          // when the order of arrival was tried last
  Duration stay_for_;                       // until the order of arrival is tried again
};

}  // namespace spillway::overload
