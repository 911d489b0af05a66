// Finds the slot of a ticket or a session by its id: open addressing with linear probing, half to a
// quarter full.
//
// The ids are random and signed by the proxy, so their first bytes serve as the hash: no client can
// choose ids that collide.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "waiting/line/pool.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

class IdIndex {
 public:
  // `id_of` gives the id of a slot. kNoSlot: not found.
  template <class IdOf>
  Slot find(const TicketId& id, const IdOf& id_of) const {
    if (entries_.empty()) return kNoSlot;
    const std::uint32_t tag = tag_of(id);
    for (std::size_t i = home(tag); entries_[i].slot != kNoSlot; i = next(i)) {
      if (entries_[i].tag == tag && id_of(entries_[i].slot) == id) return entries_[i].slot;
    }
    return kNoSlot;
  }
  // Precondition: the id is not in the index yet.
  void insert(const TicketId& id, Slot slot);
  void erase(const TicketId& id, Slot slot);

 private:
  struct Entry {
    std::uint32_t tag = 0;
    Slot slot = kNoSlot;
  };

  static std::uint32_t tag_of(const TicketId& id) {
    std::uint32_t tag = 0;
    std::memcpy(&tag, id.bytes.data(), sizeof tag);
    return tag;
  }
  std::size_t home(std::uint32_t tag) const { return tag & (entries_.size() - 1); }
  std::size_t next(std::size_t i) const { return (i + 1) & (entries_.size() - 1); }
  void put(const Entry& entry);

  std::vector<Entry> entries_;  // a power of two
  std::size_t used_ = 0;
};

}  // namespace spillway::waiting
