#include "waiting/session/recently_ended.hpp"

#include <algorithm>

namespace spillway::waiting {

void RecentlyEnded::add(const TicketId& id, const End& end) {
  if (const Slot former = nodes_.find(id); former != kNoSlot) forget(former);
  if (nodes_.size() >= kMost) forget(oldest_);
  const Slot slot = nodes_.take(id);
  nodes_[slot].end = end;
  nodes_[slot].older = newest_;
  (newest_ != kNoSlot ? nodes_[newest_].newer : oldest_) = slot;
  newest_ = slot;
}

void RecentlyEnded::tick(Time now, Milliseconds kept) {
  const Time since = now - std::max(kept, kKept);
  for (int n = 0; n < kForgottenAtOnce && oldest_ != kNoSlot; ++n) {
    if (nodes_[oldest_].end.at >= since) return;
    forget(oldest_);
  }
}

std::optional<End> RecentlyEnded::find(const TicketId& id, Time now) const {
  const Slot slot = nodes_.find(id);
  if (slot == kNoSlot || !is_kept(nodes_[slot].end, now)) return std::nullopt;
  return nodes_[slot].end;
}

bool RecentlyEnded::has_ended(const TicketId& id, Time since) const {
  const Slot slot = nodes_.find(id);
  return slot != kNoSlot && nodes_[slot].end.at >= since;
}

bool RecentlyEnded::has_session(const TicketId& id, Time now) const {
  const auto end = find(id, now);
  return end && end->was_session && now - end->at <= kSlice;
}

std::vector<RecentlyEnded::Entry> RecentlyEnded::list(const std::optional<TicketId>& before,
                                                      std::size_t most, Time now) const {
  Slot slot = newest_;
  if (before) {
    const Slot last = nodes_.find(*before);
    slot = last != kNoSlot ? nodes_[last].older : kNoSlot;
  }
  std::vector<Entry> entries;
  for (; slot != kNoSlot && entries.size() < most; slot = nodes_[slot].older) {
    if (!is_kept(nodes_[slot].end, now)) break;
    entries.push_back({nodes_[slot].id, nodes_[slot].end});
  }
  return entries;
}

std::vector<RecentlyEnded::Entry> RecentlyEnded::oldest_first() const {
  std::vector<Entry> entries;
  for (Slot slot = oldest_; slot != kNoSlot; slot = nodes_[slot].newer)
    entries.push_back({nodes_[slot].id, nodes_[slot].end});
  return entries;
}

void RecentlyEnded::forget(Slot slot) {
  const Node& node = nodes_[slot];
  (node.older != kNoSlot ? nodes_[node.older].newer : oldest_) = node.newer;
  (node.newer != kNoSlot ? nodes_[node.newer].older : newest_) = node.older;
  nodes_.give_back(slot);
}

}  // namespace spillway::waiting
