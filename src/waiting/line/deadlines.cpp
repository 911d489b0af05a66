#include "waiting/line/deadlines.hpp"

namespace spillway::waiting {

void Deadlines::set(Slot slot, Time due) {
  Node& node = nodes_.reach(slot);
  if (node.bucket != kNoBucket) clear(slot);
  node.due = due;
  const std::int64_t number = std::max(due.time_since_epoch() / kWidth, turned_);
  link(slot, static_cast<std::uint32_t>(number % kBuckets));
}

void Deadlines::link(Slot slot, std::uint32_t bucket) {
  Node& node = nodes_[slot];
  node.bucket = bucket;
  node.before = kNoSlot;
  node.after = heads_[bucket];
  if (node.after != kNoSlot) nodes_[node.after].before = slot;
  heads_[bucket] = slot;
}

// Each bucket from its last entry to its first, since link() inserts at the front.
std::vector<Deadlines::Entry> Deadlines::entries() const {
  std::vector<Entry> entries;
  for (std::uint32_t bucket = 0; bucket < heads_.size(); ++bucket) {
    const auto first = static_cast<std::ptrdiff_t>(entries.size());
    for (Slot slot = heads_[bucket]; slot != kNoSlot; slot = nodes_[slot].after)
      entries.push_back({bucket, slot, nodes_[slot].due});
    std::reverse(entries.begin() + first, entries.end());
  }
  return entries;
}

void Deadlines::restore(const Entry& entry) {
  nodes_.reach(entry.slot).due = entry.due;
  link(entry.slot, entry.bucket % kBuckets);
}

void Deadlines::clear(Slot slot) {
  Node& node = nodes_[slot];
  if (node.bucket == kNoBucket) return;
  if (node.before == kNoSlot) {
    heads_[node.bucket] = node.after;
  } else {
    nodes_[node.before].after = node.after;
  }
  if (node.after != kNoSlot) nodes_[node.after].before = node.before;
  node.bucket = kNoBucket;
}

void Deadlines::collect(Time now) {
  due_.clear();
  const std::int64_t last = std::max(now.time_since_epoch() / kWidth, turned_);
  // At the previous call the bucket turned_ was only partly past, so it is visited again.
  const std::int64_t first = std::max(turned_, last - kBuckets + 1);
  for (std::int64_t number = first; number <= last; ++number) {
    Slot slot = heads_[static_cast<std::size_t>(number % kBuckets)];
    while (slot != kNoSlot) {
      const Slot after = nodes_[slot].after;
      if (nodes_[slot].due <= now) {
        clear(slot);
        due_.push_back(slot);
      }
      slot = after;
    }
  }
  turned_ = last;
}

}  // namespace spillway::waiting
