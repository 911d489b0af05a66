// Contention for slots: which request a held slot would serve if it were given back.
#include <algorithm>
#include <bit>

#include "dispatch/scheduler/scheduler.hpp"

namespace spillway::dispatch {

WouldServe Scheduler::would_serve(const HeldSlot& slot) const {
  const std::size_t held_as = index(slot.served_as);
  if (held_as >= classes_.size()) return WouldServe::nobody;
  // Starts with the highest class.
  for (ClassSet rest = queues_.backlogged(); rest != 0; rest &= rest - 1) {
    const auto waiting = static_cast<std::size_t>(std::countr_zero(rest));
    if (!would_serve(slot, waiting)) continue;
    return waiting <= held_as ? WouldServe::same_or_higher : WouldServe::lower_class;
  }
  return WouldServe::nobody;
}

bool Scheduler::would_serve(const HeldSlot& slot, std::size_t waiting) const {
  const Class& c = classes_[waiting];
  const Class& holder = classes_[index(slot.served_as)];
  const bool is_own = waiting == index(slot.served_as);
  const std::uint64_t can_follow = std::max(slot.can_follow, 1u);
  // In its class, the excess over the cap plus one have to be given back.
  const std::uint64_t of_class = std::uint64_t{c.running} + c.elsewhere + 1;
  if (of_class > c.max_inflight + (is_own ? can_follow : 0)) return false;
  // The slot would be one of those reserved for its class.
  if (!is_own && !slot.is_elsewhere && slots_.keeps_reserved && holder.running <= holder.reserved)
    return false;
  const std::uint64_t kept = slots_.keeps_reserved ? slots_.open_reserved - c.open_reserved() : 0;
  const std::uint64_t held = std::uint64_t{slots_.running} + slots_.elsewhere;
  return held + kept + 1 <= slots_.total + can_follow;
}

}  // namespace spillway::dispatch
