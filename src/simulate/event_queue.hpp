// What happens next on the virtual clock. Events of the same moment come in the order in which
// they were scheduled, so that a run is the same every time.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "base/time.hpp"
#include "simulate/request.hpp"

namespace spillway::simulate {

enum class Happening : std::uint8_t {
  arrival,     // of a new request of `clients`
  retry,       // the client of `request` tries again
  completion,  // the backend has finished `request`
  gives_up,    // the client of `request`
  timer,       // 10 ms: who has waited for too long
  sweep,       // 50 ms: what the workers publish
  tick,        // signals, state, plan
  change,      // of the backend
  second,      // a second is over
  measure,     // the warm-up is over
};

struct Event {
  TimePoint at;
  Happening what{};
  std::uint32_t clients = 0;
  Request* request = nullptr;
  std::uint64_t turn = 0;  // of the request, when the event was scheduled
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
