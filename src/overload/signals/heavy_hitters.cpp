#include "overload/signals/heavy_hitters.hpp"

#include <algorithm>
#include <bit>

namespace spillway::overload {

HeavyHitters::HeavyHitters(std::size_t capacity)
    : capacity_(std::clamp<std::size_t>(capacity, 1, kNone)),
      slots_(std::bit_ceil(4 * capacity_), kNone),
      shift_(64 - std::countr_zero(slots_.size())) {
  counted_.reserve(capacity_);
  heap_.reserve(capacity_);
  heap_index_.reserve(capacity_);
}

void HeavyHitters::record(TenantId tenant, double weight, float share) {
  total_ += weight;
  const std::size_t slot = slot_of(tenant);
  if (slots_[slot] != kNone) {
    const Counter counter = slots_[slot];
    const double count = counted_[counter].count += weight;
    counted_[counter].share = share;
    sift_down(heap_index_[counter], {count, counter});
    return;
  }
  if (counted_.size() < capacity_) {
    const auto counter = static_cast<Counter>(counted_.size());
    counted_.push_back({tenant, weight, 0, share});
    heap_.push_back({weight, counter});
    heap_index_.push_back(counter);
    slots_[slot] = counter;
    sift_up(counter);
    return;
  }
  const Counter smallest = heap_[0].counter;
  Counted& taken = counted_[smallest];
  forget(taken.tenant);
  taken = {tenant, taken.count + weight, taken.count, share};
  slots_[slot_of(tenant)] = smallest;  // forgetting may have moved its slot
  sift_down(0, {taken.count, smallest});
}

void HeavyHitters::decay(double factor) {
  total_ = decayed(total_, factor);
  for (Counted& one : counted_) {
    one.count = decayed(one.count, factor);
    one.error = decayed(one.error, factor);
  }
  for (Ranked& one : heap_) one.count = decayed(one.count, factor);
}

std::size_t HeavyHitters::slot_of(TenantId tenant) const {
  std::size_t slot = home_of(tenant);
  while (slots_[slot] != kNone && counted_[slots_[slot]].tenant != tenant)
    slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

// Linear probing without tombstones: later entries move into the gap where their home slot allows
// it (Knuth, "The Art of Computer Programming" volume 3, section 6.4, algorithm R).
void HeavyHitters::forget(TenantId tenant) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t gap = slot_of(tenant);
  for (std::size_t i = (gap + 1) & mask; slots_[i] != kNone; i = (i + 1) & mask) {
    const std::size_t home = home_of(counted_[slots_[i]].tenant);
    if (((i - home) & mask) < ((i - gap) & mask)) continue;
    slots_[gap] = slots_[i];
    gap = i;
  }
  slots_[gap] = kNone;
}

void HeavyHitters::put(std::size_t at, Ranked one) {
  heap_[at] = one;
  heap_index_[one.counter] = static_cast<std::uint16_t>(at);
}

void HeavyHitters::sift_up(std::size_t at) {
  const Ranked one = heap_[at];
  for (; at > 0 && heap_[(at - 1) / 2].count > one.count; at = (at - 1) / 2)
    put(at, heap_[(at - 1) / 2]);
  put(at, one);
}

// Puts `one` at position `at` or below it.
void HeavyHitters::sift_down(std::size_t at, Ranked one) {
  for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
    if (child + 1 < heap_.size() && heap_[child + 1].count < heap_[child].count) ++child;
    if (heap_[child].count >= one.count) break;
    put(at, heap_[child]);
    at = child;
  }
  put(at, one);
}

}  // namespace spillway::overload
