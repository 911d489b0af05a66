// Elements by number that never move: memory grows in blocks, so that a line of a million tickets
// is never copied while visitors wait for an answer. Blocks are kept for reuse.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "waiting/ticket/archive.hpp"

namespace spillway::waiting {

// The number of an element. In all structures about tickets the same number means the same ticket.
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = UINT32_MAX;

template <class T>
class Blocks {
 public:
  T& operator[](Slot slot) { return (*blocks_[slot / kBlock])[slot % kBlock]; }
  const T& operator[](Slot slot) const { return (*blocks_[slot / kBlock])[slot % kBlock]; }
  // Creates the element with its default value if it does not exist yet.
  T& reach(Slot slot) {
    while (blocks_.size() <= slot / kBlock) blocks_.push_back(std::make_unique<Block>());
    return (*this)[slot];
  }

 private:
  // Powers of two; a block takes some ten kilobytes.
  static constexpr std::size_t kBlock = sizeof(T) <= 128 ? 512 : 16;
  using Block = std::array<T, kBlock>;

  std::vector<std::unique_ptr<Block>> blocks_;
};

// Blocks from which elements are taken and given back; the last one given back is reused first.
template <class T>
class Pool {
 public:
  T& operator[](Slot slot) { return elements_[slot].value; }
  const T& operator[](Slot slot) const { return elements_[slot].value; }
  std::size_t size() const { return size_; }
  // Above all slots that were ever taken.
  Slot end() const { return end_; }

  // By slot: whether it is taken now.
  std::vector<bool> taken() const {
    std::vector<bool> taken(end_, true);
    for (Slot slot = free_; slot < end_ && taken[slot]; slot = elements_[slot].next_free)
      taken[slot] = false;
    return taken;
  }

  Slot take() {
    ++size_;
    if (free_ == kNoSlot) {
      elements_.reach(end_);
      return end_++;
    }
    const Slot slot = free_;
    free_ = elements_[slot].next_free;
    return slot;
  }
  void give_back(Slot slot) {
    --size_;
    elements_[slot].value = T{};
    elements_[slot].next_free = free_;
    free_ = slot;
  }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.end_, self.free_, self.size_);
    for (Slot slot = 0; slot < self.end_ && archive.is_sound(); ++slot) {
      if constexpr (Archive::kReads) self.elements_.reach(slot);
      archive(self.elements_[slot].value, self.elements_[slot].next_free);
    }
  }

  struct Element {
    T value{};
    Slot next_free = kNoSlot;
  };

  Blocks<Element> elements_;
  Slot free_ = kNoSlot;
  Slot end_ = 0;
  std::size_t size_ = 0;
};

}  // namespace spillway::waiting
