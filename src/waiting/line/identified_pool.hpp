// A pool of elements with an id (member `id`), which also finds an element by its id.
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

  // kNoSlot: not found.
  Slot find(const TicketId& id) const {
    return index_.find(id, [this](Slot slot) -> const TicketId& { return pool_[slot].id; });
  }
  // Precondition: no element has this id yet.
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
