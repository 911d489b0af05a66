// The events of a run, earliest first. Events of equal time come in the order of their insertion,
// so that runs are deterministic.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "base/time.hpp"
#include "simulate/model/request.hpp"

namespace spillway::simulate {

enum class EventKind : std::uint8_t {
  arrival,           // a new request
  retry,             // the client of `request` tries again
  completion,        // the backend has finished `request`
  gives_up,          // the client of `request` gives up
  slot_due,          // `request`, whose client left, gives up its slot
  response_timeout,  // of the proxy, for `request`
  resend,            // `request` tries to reach a server again
  loop,              // the proxy's event loop has finished its current work
  timer,             // every 10 ms: waiters expire
  sweep,             // every 50 ms: workers publish ages and tenants
  tick,              // of the controller: signals, state, plan
  change,            // of the backend
  second,            // a second is over
  measure,           // the warm-up is over
  visitor,           // a visitor, whose pages are made from `request`, acts
  rate_wait,         // `request`, a job, stops waiting for its route's rate
  spare_wait,        // the same for a spare slot
  pull,              // the store answers the job dispatcher's request
};

struct Event {
  TimePoint at;
  EventKind kind{};
  Request* request = nullptr;
  std::uint64_t request_use = 0;  // Request::use when the event was pushed
};

class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  const Event& next() const { return heap_.top().event; }

  void push(const Event& event) { heap_.push({event, order_++}); }
  Event pop() {
    const Event event = heap_.top().event;
    heap_.pop();
    return event;
  }

 private:
  struct Scheduled {
    Event event;
    std::uint64_t order;

    bool operator>(const Scheduled& other) const {
      return event.at != other.event.at ? event.at > other.event.at : order > other.order;
    }
  };

  std::priority_queue<Scheduled, std::vector<Scheduled>, std::greater<>> heap_;
  std::uint64_t order_ = 0;
};

}  // namespace spillway::simulate
