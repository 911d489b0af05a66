#include "waiting/deadlines.hpp"

namespace spillway::waiting {

void Deadlines::set(Slot slot, Time due) {
  Node& node = nodes_.reach(slot);
  if (node.bucket != kNoBucket) clear(slot);
  node.due = due;
  const std::int64_t number = std::max(due.time_since_epoch() / kWidth, turned_);
  node.bucket = static_cast<std::uint32_t>(number % kBuckets);
  node.before = kNoSlot;
  node.after = heads_[node.bucket];
  if (node.after != kNoSlot) nodes_[node.after].before = slot;
  heads_[node.bucket] = slot;
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
  // The bucket of the last time was only partly past, so it is visited again.
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
