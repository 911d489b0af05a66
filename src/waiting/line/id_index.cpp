#include "waiting/line/id_index.hpp"

#include <utility>

namespace spillway::waiting {

void IdIndex::put(const Entry& entry) {
  std::size_t i = home(entry.tag);
  while (entries_[i].slot != kNoSlot) i = next(i);
  entries_[i] = entry;
}

void IdIndex::insert(const TicketId& id, Slot slot) {
  if ((used_ + 1) * 2 > entries_.size()) {
    const auto old =
        std::exchange(entries_, std::vector<Entry>(entries_.empty() ? 64 : entries_.size() * 2));
    for (const Entry& entry : old) {
      if (entry.slot != kNoSlot) put(entry);
    }
  }
  put({tag_of(id), slot});
  ++used_;
}

void IdIndex::erase(const TicketId& id, Slot slot) {
  std::size_t hole = home(tag_of(id));
  while (entries_[hole].slot != slot) hole = next(hole);
  // Moves back each later entry whose probe sequence would cross the hole.
  for (std::size_t i = next(hole); entries_[i].slot != kNoSlot; i = next(i)) {
    const std::size_t mask = entries_.size() - 1;
    const std::size_t from_home = (i - home(entries_[i].tag)) & mask;
    if (from_home >= ((i - hole) & mask)) {
      entries_[hole] = entries_[i];
      hole = i;
    }
  }
  entries_[hole] = {};
  --used_;
}

}  // namespace spillway::waiting
