// Scheduling of work that no client waits for: it takes spare slots.
#include "dispatch/scheduler/scheduler.hpp"

namespace spillway::dispatch {

Offer Scheduler::offer_in_background(Waiter& waiter, const Terms& terms, TimePoint now) {
  const Class& c = classes_[index(waiter.served_as)];
  const bool is_first = background_.waiters.empty();
  if (queued_ == 0 && is_first && may_start(c)) {
    take_slot(waiter, now);
    if (terms.has_time) ++slots_.for_jobs;
    return {Offer::Kind::granted, Reason::none, Duration{0}, nullptr};
  }
  if (!terms.has_time) return {};
  waiter.state = Waiter::State::queued;
  waiter.expires_at = kNever;
  terms.goes_first ? background_.waiters.push_front(waiter) : background_.waiters.push_back(waiter);
  return {Offer::Kind::queued, Reason::none, std::nullopt, nullptr};
}

Waiter* Scheduler::next_in_background(TimePoint at) {
  Waiter* const waiter = background_.waiters.front();
  if (waiter == nullptr || !may_start(classes_[index(waiter->served_as)])) return nullptr;
  const TimePoint now = advance(at);
  leave_queue(*waiter, now);
  take_slot(*waiter, now);
  ++slots_.for_jobs;
  return waiter;
}

}  // namespace spillway::dispatch
