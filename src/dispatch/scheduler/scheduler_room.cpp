// Room in the queues: capacity that a higher class borrows of a lower one, and eviction.
#include "dispatch/scheduler/scheduler.hpp"

namespace spillway::dispatch {

// Evicting lets a higher class borrow queue capacity of a lower one. A class may use its own
// capacity except what is lent: the waiters of a class and all below it never exceed the sum of
// their max_queue.
bool Scheduler::has_room(std::size_t i) const {
  if (queues_.waiting()[i] >= classes_[i].max_queue) return false;
  if (borrowing_ == 0) return true;
  std::uint64_t waiters = 0, capacity = 0;
  for (std::size_t j = classes_.size(); j-- > 0;) {
    waiters += queues_.waiting()[j];
    capacity += classes_[j].max_queue;
    if (j <= i && waiters >= capacity) return false;
  }
  return true;
}

// From the lowest class that may be evicted, else from a tenant of the newcomer's class with more
// queued work, so that a tenant that fills the queue does not keep the others out.
Waiter* Scheduler::evict_for(const Waiter& newcomer, TimePoint now) {
  const ClassId id = newcomer.traffic_class;
  Waiter* evicted = nullptr;
  for (std::size_t i = 0; i < evict_.size() && evicted == nullptr; ++i) {
    if (evict_[i] > id) evicted = queues_.of(evict_[i]).last_of_fattest();
  }
  if (evicted == nullptr) evicted = queues_.of(id).fatter_than(newcomer);
  if (evicted == nullptr) return nullptr;
  leave_queue(*evicted, now);
  evicted->state = Waiter::State::evicted;
  evicted->reason = Reason::evicted;
  ++classes_[index(evicted->traffic_class)].totals.evicted;
  return evicted;
}

}  // namespace spillway::dispatch
