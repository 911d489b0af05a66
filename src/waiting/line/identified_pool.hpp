// A pool of elements that have an id (`id`), each found by it.
#pragma once

#include <cstddef>
#include <vector>

#include "waiting/line/id_index.hpp"
#include "waiting/line/pool.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

template <class T>
class IdentifiedPool {
 public:
  T& operator[](Slot slot) { return pool_[slot]; }
  const T& operator[](Slot slot) const { return pool_[slot]; }
  std::size_t size() const { return pool_.size(); }
  Slot end() const { return pool_.end(); }
  std::vector<bool> taken() const { return pool_.taken(); }

  // kNoSlot: there is none.
  Slot find(const TicketId& id) const {
    return index_.find(id, [this](Slot slot) -> const TicketId& { return pool_[slot].id; });
  }
  // Of an id that is not there yet.
  Slot take(const TicketId& id) {
    const Slot slot = pool_.take();
    pool_[slot].id = id;
    index_.insert(id, slot);
    return slot;
  }
  void give_back(Slot slot) {
    index_.erase(pool_[slot].id, slot);
    pool_.give_back(slot);
  }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.pool_);
    if constexpr (Archive::kReads) {
      if (!archive.is_sound()) return;
      const std::vector<bool> taken = self.pool_.taken();
      for (Slot slot = 0; slot < taken.size(); ++slot) {
        if (taken[slot]) self.index_.insert(self.pool_[slot].id, slot);
      }
    }
  }

  Pool<T> pool_;
  IdIndex index_;
};

}  // namespace spillway::waiting
