// Whose turn it is within a class while the upstream is overloaded: the waiter that came first or
// the one that came last (`dispatch.overload_order`).
//
// In order of arrival every waiter of an overloaded class has waited for about as long as clients
// do, so that the upstream works for clients that leave meanwhile: served are those that will not
// stay. Served newest first, those that are served are there, and those that leave were not served.
// With patient clients it only makes the waits unequal. So `adaptive` keeps the order of arrival
// until clients leave, and then serves the newest first until the overload ends. Known as adaptive
// LIFO (Maurer, "Fail at scale", ACM Queue 13(8), 2015). Where waiters do not expire (Late::
// process_with_tag) it keeps the order of arrival: the oldest would wait until the overload ends.
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
  newest_first_below,  // the highest of several classes
  newest_first,
};

inline bool is_newest_first(QueueOrder order, ClassId traffic_class) {
  return order == QueueOrder::newest_first ||
         (order == QueueOrder::newest_first_below && index(traffic_class) > 0);
}

class QueueOrderChoice {
 public:
  QueueOrderChoice(const config::Dispatch& dispatch, std::size_t classes);

  // After a reload: what was seen of clients counts on.
  void continue_from(const QueueOrderChoice& former);

  // `answered`: part of the dispatched requests whose clients stayed, lately; nullopt: too few to
  // say. A crowd that is dispatched within a tick looks for a moment as if it had left: it has to
  // last.
  QueueOrder step(std::optional<double> answered, State state, TimePoint now);

 private:
  config::OverloadOrder configured_;
  std::size_t classes_;
  QueueOrder order_ = QueueOrder::oldest_first;
  std::optional<TimePoint> leaving_since_;
};

}  // namespace spillway::overload
