// The sessions that ended within the last slice: their first pass, which is good without a session
// for so long, does not begin another one in the place of somebody else's.
#pragma once

#include <cstddef>
#include <deque>
#include <set>

#include "waiting/pass.hpp"
#include "waiting/ticket.hpp"

namespace spillway::waiting {

class RecentlyOver {
 public:
  // Beyond these the oldest are forgotten.
  static constexpr std::size_t kMost = 100'000;

  void add(const TicketId& id, Time now) {
    while (!order_.empty() && (now - order_.front().at > kSlice || order_.size() >= kMost)) {
      ids_.erase(order_.front().id);
      order_.pop_front();
    }
    if (ids_.insert(id).second) order_.push_back({id, now});
  }
  bool has(const TicketId& id, Time now) const {
    return !order_.empty() && now - order_.back().at <= kSlice && ids_.contains(id);
  }

 private:
  struct Over {
    TicketId id;
    Time at{};
  };
  std::deque<Over> order_;
  std::set<TicketId> ids_;
};

}  // namespace spillway::waiting
