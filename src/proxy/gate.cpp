#include "proxy/gate.hpp"

namespace spillway::proxy {

namespace {
// Every waiter that enters is a Ticket's base.
Ticket& ticket_of(dispatch::Waiter& waiter) { return static_cast<Ticket&>(waiter); }

void deliver(dispatch::Waiter& waiter) {
  Ticket& ticket = ticket_of(waiter);
  ticket.home->deliver(ticket);
}
}  // namespace

Gate::Gate(const config::Dispatch& settings, std::span<const config::TrafficClass> classes)
    : scheduler_(settings, classes) {}

dispatch::Offer Gate::enter(Ticket& ticket, const dispatch::Terms& terms, TimePoint now) {
  const std::lock_guard lock(mutex_);
  const dispatch::Offer offer = scheduler_.offer(ticket, terms, now);
  if (offer.evicted != nullptr) deliver(*offer.evicted);
  return offer;
}

void Gate::leave(ClassId traffic_class, Duration held, TimePoint now) {
  const std::lock_guard lock(mutex_);
  deliver_startable(scheduler_.release(traffic_class, held, now), now);
}

bool Gate::cancel(Ticket& ticket, TimePoint now) {
  const std::lock_guard lock(mutex_);
  const bool cancelled = scheduler_.cancel(ticket, now);
  if (cancelled) deliver_startable(scheduler_.next(now), now);
  return cancelled;
}

void Gate::expire(TimePoint now) {
  const std::lock_guard lock(mutex_);
  while (dispatch::Waiter* waiter = scheduler_.expire(now)) deliver(*waiter);
  deliver_startable(scheduler_.next(now), now);
}

void Gate::deliver_startable(dispatch::Waiter* first, TimePoint now) {
  for (dispatch::Waiter* waiter = first; waiter != nullptr; waiter = scheduler_.next(now)) {
    deliver(*waiter);
  }
}

void Gate::read_load(Load& load, TimePoint now) {
  const std::lock_guard lock(mutex_);
  load.busy_slot_seconds = scheduler_.busy_slot_seconds(now);
  load.queued.resize(scheduler_.class_count());
  for (std::size_t c = 0; c < load.queued.size(); ++c)
    load.queued[c] = scheduler_.queued(ClassId(c));
}

void Gate::read_snapshot(observe::UpstreamSnapshot& snapshot, TimePoint now) {
  const std::lock_guard lock(mutex_);
  snapshot.inflight = scheduler_.running();
  snapshot.concurrency_limit = scheduler_.concurrency();
  snapshot.classes.resize(scheduler_.class_count());
  for (std::size_t c = 0; c < snapshot.classes.size(); ++c) {
    const ClassId id{static_cast<std::uint8_t>(c)};
    snapshot.classes[c] = {.queued = scheduler_.queued(id),
                           .inflight = scheduler_.running(id),
                           .oldest_wait = scheduler_.oldest_wait(id, now),
                           .weight = scheduler_.weight(id),
                           .totals = scheduler_.totals(id)};
  }
}

}  // namespace spillway::proxy
