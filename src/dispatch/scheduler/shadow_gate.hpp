// The gate of shadow mode: how enforcing would treat requests, which are forwarded at once.
//
// Each request gets a ghost, which takes its part at the scheduler: a queue place and then a slot,
// or a slot at once, for as long as the request would have had them. The request itself may have
// ended long before, as it waited for no slot. So the refusals are those of enforcing, and not
// those of an empty queue.
//
// How long a ghost holds its slot: if there were no more requests at the upstream than slots when
// its request was sent, the upstream behaves as it would under enforcing, and the ghost holds the
// slot as long as the request takes. Otherwise the upstream is slower than under enforcing: the
// ghost takes the learned service time of its route (service_estimate.hpp).
//
// Pure and not thread-safe, like the scheduler, which only this class drives. Allocates only while
// the number of ghosts grows, which is bounded by the slots, the queue places and the requests
// under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"
#include "dispatch/estimate/service_estimate.hpp"
#include "dispatch/queue/waiter.hpp"
#include "dispatch/scheduler/scheduler.hpp"

namespace spillway::dispatch {

class ShadowGate {
 public:
  struct Ghost : Waiter {
    RouteId route{};
    TimePoint sent{};
    TimePoint granted_at{};
    std::uint32_t at_upstream = 0;    // requests there when it was sent, itself included
    bool is_crowded = false;          // these were more than there are slots
    std::optional<Duration> service;  // how long it will have held its slot, once known
    bool has_request = false;         // which is under way
    bool is_released = false;         // it has given its slot back, or never had one
    std::uint64_t use = 0;
  };

  // The outcome of a ghost that had to wait.
  struct Event {
    ClassId traffic_class{};
    RouteId route{};
    Reason reason = Reason::none;  // it would have been refused; none: it has its slot
    Duration waited{0};
    bool has_request = false;  // it will report the refusal itself: see ended()
  };

  // Keeps a reference to the scheduler.
  ShadowGate(Scheduler& scheduler, std::size_t routes);
  ShadowGate(const ShadowGate&) = delete;
  ShadowGate& operator=(const ShadowGate&) = delete;

  // Like Scheduler::offer. The request is sent in any case, and its ghost must be passed to ended()
  // or left() once.
  struct Entry {
    Offer offer;
    Ghost* ghost = nullptr;
  };
  Entry enter(RouteId route, const Terms& terms, TimePoint now);
  // The request would have been refused before it came to the gate; it is sent all the same.
  Ghost& pass(RouteId route, TimePoint now);

  // The request has been served. Returns the reason if it would have been refused while
  // waiting.
  std::optional<Reason> ended(Ghost& ghost, TimePoint now);
  // The client left, or the upstream failed: an enforcing gate would also have released it by
  // now.
  std::optional<Reason> left(Ghost& ghost, TimePoint now);

  // Lets time pass: slots are given back and granted, waiters expire. Call it every 10 ms.
  void advance(TimePoint now);
  // The scheduler has granted a ghost its slot in a call that was not made for ghosts: the release
  // of a slot that no ghost held, or of one of another scheduler of the same slots.
  void granted(Waiter& waiter, TimePoint now);
  // The next event since the last call; nullopt: no more.
  std::optional<Event> next_event();

 private:
  struct Due {
    TimePoint at;
    Ghost* ghost;
    std::uint64_t use;

    bool operator>(const Due& other) const { return at > other.at; }
  };

  Ghost& acquire(RouteId route, TimePoint now);
  void free_if_over(Ghost& ghost);
  std::optional<Reason> request_over(Ghost& ghost);
  void start(Ghost& ghost, TimePoint now);
  void start_waiting(Waiter* first, TimePoint now);
  void give_back(Ghost& ghost, TimePoint now);
  void lose(Waiter& waiter);
  void schedule_release(Ghost& ghost);

  Scheduler& scheduler_;
  ServiceEstimate services_;
  std::deque<Ghost> ghosts_;
  std::vector<Ghost*> free_;
  std::vector<Due> due_;  // a heap, the earliest in front
  std::vector<Event> events_;
  std::size_t told_ = 0;  // number of these already returned
  std::uint32_t at_upstream_ = 0;
};

}  // namespace spillway::dispatch
