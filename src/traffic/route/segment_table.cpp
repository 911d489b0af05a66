#include "traffic/route/segment_table.hpp"

#include <cstring>

namespace spillway::traffic {
namespace {

constexpr std::uint64_t mix(std::uint64_t x) {  // the finalizer of MurmurHash3
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 33;
  return x;
}

std::uint64_t load(const char* from, std::size_t bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, bytes);
  return word;
}

}  // namespace

std::uint64_t SegmentTable::hash(std::string_view segment) {
  std::uint64_t h = segment.size() * 0x9e3779b97f4a7c15u;
  while (segment.size() > 8) {
    h = mix(h ^ load(segment.data(), 8));
    segment.remove_prefix(8);
  }
  return mix(h ^ load(segment.data(), segment.size()));
}

std::size_t SegmentTable::first_slot(std::uint32_t node, std::uint64_t hash) const {
  return static_cast<std::size_t>(mix(hash + node * 0x9e3779b97f4a7c15u)) & (slots_.size() - 1);
}

std::uint32_t SegmentTable::find(std::uint32_t node, std::string_view segment,
                                 std::uint64_t hash) const {
  if (slots_.empty()) return kAbsent;
  for (std::size_t i = first_slot(node, hash);; i = (i + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[i];
    if (slot.child == kAbsent) return kAbsent;
    if (slot.node != node || slot.length != segment.size()) continue;
    if (std::memcmp(texts_.data() + slot.offset, segment.data(), segment.size()) == 0) {
      return slot.child;
    }
  }
}

void SegmentTable::insert(std::uint32_t node, std::string_view segment, std::uint32_t child) {
  if (slots_.size() < 2 * (size_ + 1)) grow();  // at most half full, so probe runs are short
  std::size_t i = first_slot(node, hash(segment));
  while (slots_[i].child != kAbsent) i = (i + 1) & (slots_.size() - 1);
  slots_[i] = {node, child, static_cast<std::uint32_t>(texts_.size()),
               static_cast<std::uint32_t>(segment.size())};
  texts_ += segment;
  ++size_;
}

void SegmentTable::grow() {
  std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.child == kAbsent) continue;
    const std::string_view segment(texts_.data() + slot.offset, slot.length);
    std::size_t i = first_slot(slot.node, hash(segment));
    while (slots_[i].child != kAbsent) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = slot;
  }
}

}  // namespace spillway::traffic
