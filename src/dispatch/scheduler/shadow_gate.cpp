#include "dispatch/scheduler/shadow_gate.hpp"

#include <algorithm>
#include <functional>

namespace spillway::dispatch {

namespace {
// Allocated in advance: the default queues hold 896.
constexpr std::size_t kReady = 1024;
}  // namespace

ShadowGate::ShadowGate(Scheduler& scheduler, std::size_t routes)
    : scheduler_(scheduler), services_(routes) {
  const std::size_t ready = kReady + std::min<std::size_t>(scheduler.concurrency(), kReady);
  free_.reserve(ready);
  due_.reserve(ready);
  events_.reserve(ready);
  while (ghosts_.size() < ready) free_.push_back(&ghosts_.emplace_back());
}

ShadowGate::Entry ShadowGate::enter(RouteId route, const Terms& terms, TimePoint now) {
  advance(now);
  Ghost& ghost = acquire(route, now);
  const Offer offer = scheduler_.offer(ghost, terms, now);
  if (offer.evicted != nullptr) lose(*offer.evicted);
  if (offer.kind == Offer::Kind::refused) ghost.is_released = true;
  if (offer.kind == Offer::Kind::granted) start(ghost, now);
  return {offer, &ghost};
}

ShadowGate::Ghost& ShadowGate::pass(RouteId route, TimePoint now) {
  Ghost& ghost = acquire(route, now);
  ghost.is_released = true;
  return ghost;
}

std::optional<Reason> ShadowGate::ended(Ghost& ghost, TimePoint now) {
  advance(now);
  const Duration latency = now - ghost.sent;
  services_.record(ghost.route, latency, ghost.at_upstream, scheduler_.concurrency());
  if (!ghost.is_released && !ghost.service) {
    ghost.service = ghost.is_crowded ? services_.next(ghost.route) : latency;
    if (ghost.state == Waiter::State::granted) schedule_release(ghost);
  }
  advance(now);
  return request_over(ghost);
}

std::optional<Reason> ShadowGate::left(Ghost& ghost, TimePoint now) {
  advance(now);
  if (!ghost.is_released) {
    if (scheduler_.cancel(ghost, now)) {
      ghost.is_released = true;
      start_waiting(nullptr, now);
    } else if (ghost.state == Waiter::State::granted) {
      give_back(ghost, now);
    }
  }
  return request_over(ghost);
}

std::optional<Reason> ShadowGate::request_over(Ghost& ghost) {
  --at_upstream_;
  ghost.has_request = false;
  const bool is_lost =
      ghost.state == Waiter::State::expired || ghost.state == Waiter::State::evicted;
  const std::optional<Reason> lost = is_lost ? std::optional(ghost.reason) : std::nullopt;
  free_if_over(ghost);
  return lost;
}

void ShadowGate::advance(TimePoint now) {
  while (!due_.empty() && due_.front().at <= now) {
    const Due due = due_.front();
    std::pop_heap(due_.begin(), due_.end(), std::greater<>{});
    due_.pop_back();
    if (due.use != due.ghost->use || due.ghost->is_released) continue;
    Ghost& ghost = *due.ghost;
    give_back(ghost, due.at);
    free_if_over(ghost);
  }
  while (Waiter* late = scheduler_.expire(now)) lose(*late);
  start_waiting(nullptr, now);
}

std::optional<ShadowGate::Event> ShadowGate::next_event() {
  if (told_ < events_.size()) return events_[told_++];
  events_.clear();
  told_ = 0;
  return std::nullopt;
}

ShadowGate::Ghost& ShadowGate::acquire(RouteId route, TimePoint now) {
  if (free_.empty()) free_.push_back(&ghosts_.emplace_back());
  Ghost& ghost = *free_.back();
  free_.pop_back();
  ghost.state = Waiter::State::idle;
  ghost.route = route;
  ghost.sent = now;
  ghost.at_upstream = ++at_upstream_;
  ghost.is_crowded = at_upstream_ > scheduler_.concurrency();
  ghost.service.reset();
  ghost.has_request = true;
  ghost.is_released = false;
  return ghost;
}

void ShadowGate::free_if_over(Ghost& ghost) {
  if (ghost.has_request || !ghost.is_released) return;
  ++ghost.use;
  free_.push_back(&ghost);
}

void ShadowGate::start(Ghost& ghost, TimePoint now) {
  ghost.granted_at = now;
  if (!ghost.service && ghost.is_crowded) ghost.service = services_.next(ghost.route);
  if (ghost.service) schedule_release(ghost);
}

void ShadowGate::start_waiting(Waiter* first, TimePoint now) {
  for (Waiter* waiter = first != nullptr ? first : scheduler_.next(now); waiter != nullptr;
       waiter = scheduler_.next(now)) {
    granted(*waiter, now);
  }
}

void ShadowGate::granted(Waiter& waiter, TimePoint now) {
  Ghost& ghost = static_cast<Ghost&>(waiter);
  start(ghost, now);
  events_.push_back(
      {ghost.traffic_class, ghost.route, Reason::none, ghost.waited, ghost.has_request});
}

void ShadowGate::give_back(Ghost& ghost, TimePoint now) {
  ghost.is_released = true;
  start_waiting(scheduler_.release(ghost.served_as, now - ghost.granted_at, now), now);
}

void ShadowGate::lose(Waiter& waiter) {
  Ghost& ghost = static_cast<Ghost&>(waiter);
  ghost.is_released = true;
  events_.push_back(
      {ghost.traffic_class, ghost.route, ghost.reason, ghost.waited, ghost.has_request});
  free_if_over(ghost);
}

void ShadowGate::schedule_release(Ghost& ghost) {
  due_.push_back({ghost.granted_at + *ghost.service, &ghost, ghost.use});
  std::push_heap(due_.begin(), due_.end(), std::greater<>{});
}

}  // namespace spillway::dispatch
