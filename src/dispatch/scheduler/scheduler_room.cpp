// Room for waiters: how long they may wait, slots kept for the first class, queue capacity.
#include <algorithm>
#include <utility>

#include "config/defaults.hpp"
#include "dispatch/scheduler/scheduler.hpp"

namespace spillway::dispatch {

namespace {

Duration part_of(Duration patience, double part) {
  return part < 1 ? from_seconds(to_seconds(patience) * part) : patience;
}

}  // namespace

Duration Scheduler::shorter_of(Duration max_wait, TimePoint deadline, TimePoint now) {
  return deadline == kNever ? max_wait : std::min(max_wait, deadline - now);
}

// The factor by which its requests may wait longer than configured, from how long slots are held at
// quiet times: a stalled or overloaded upstream is no reason to wait longer.
double Scheduler::stretch(const Class& c) const {
  if (!c.stretches) return 1;
  const double usual =
      to_seconds(config::kUsualHold) * std::max(1.0, slots_.total / config::kFewSlots);
  return std::clamp(quiet_hold_.seconds().value_or(0) / usual, 1.0, config::kMostStretch);
}

Duration Scheduler::longest_wait(const Class& c) const {
  const double times = stretch(c);
  return times > 1 ? from_seconds(times * to_seconds(c.max_wait)) : c.max_wait;
}

Scheduler::Bounds Scheduler::bounds(const Class& c, const Terms& terms) const {
  Bounds its{terms.deadline, terms.max_wait};
  // While clients leave before they are served, the newest goes first, and longer waits are vain.
  const double more = terms.newest_first ? 0 : stretch(c) - 1;
  if (more <= 0) return its;
  // Not for one that waits for as long as it takes.
  if (terms.max_wait <= c.max_wait) its.max_wait += from_seconds(more * to_seconds(c.max_wait));
  if (terms.clients_deadline)
    its.deadline = {its.deadline.operators + from_seconds(more * to_seconds(c.sla)),
                    *terms.clients_deadline};
  return its;
}

// Judged by its predicted wait: a mean, so only a share of the permitted time may be used.
Scheduler::Prospect Scheduler::prospect(Waiter& waiter, const Terms& terms, const Bounds& its,
                                        TimePoint now) const {
  const Duration wait = *waiter.predicted_wait;
  const auto fits = [&](TimePoint deadline) {
    return wait <= part_of(shorter_of(its.max_wait, deadline, now), terms.certainty);
  };
  const std::optional<Duration> most =
      terms.up_to_target_wait ? target_wait(terms.traffic_class, its.max_wait) : terms.short_wait;
  const bool is_long = most && wait > *most;
  if (late_ == config::Late::drop && !fits(waiter.deadline)) {
    waiter.by_clients_deadline = !is_long && fits(waiter.operators_deadline);
    return Prospect::in_vain;
  }
  return is_long ? Prospect::not_short : Prospect::good;
}

void Scheduler::adapt_target_wait(TimePoint now) {
  if (!target_wait_.is_due(now)) return;
  Duration longest{0};
  for (const Class& c : classes_) longest = std::max(longest, longest_wait(c));
  target_wait_.set_longest(longest);
  // A slot that is kept free does not idle: no wait of another class could fill it.
  target_wait_.advance(busy_ + slots_.kept_seconds,
                       slots_.total - std::min(slots_.elsewhere, slots_.total), now);
}

void Scheduler::keep_for_first(std::uint32_t slots, TimePoint now) {
  const std::uint32_t before = std::exchange(slots_.for_first, slots);
  if (slots == before) return;
  advance(now);
  Class& first = classes_.front();
  slots_.open_reserved -= first.open_reserved();
  first.reserved = first.reserved - before + slots;
  slots_.reserved = slots_.reserved - before + slots;
  slots_.open_reserved += first.open_reserved();
}

bool Scheduler::first_waits_long(TimePoint now) const {
  const Class& first = classes_.front();
  const Waiter* const oldest = queues_.oldest(0);
  if (oldest == nullptr || is_at_cap(first)) return false;
  const Duration limit = std::min(longest_wait(first), oldest->expires_at - oldest->arrived);
  return now - oldest->arrived >= limit / 4;
}

// By eviction a higher class borrows queue capacity from a lower one. A class may use its own
// capacity except for the part lent: the waiters of a class and all below it never exceed the sum
// of their max_queue.
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
// queued work, so that a tenant that fills the queue does not lock out the others.
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
