// The order of waiting tickets: by arrival. A counted B-tree
// of fixed depth: leaves of at most 128 slots in groups of at most 256 leaves. Each level adds up
// the counts before a place from arrays, so a position costs few cache misses: O(log n) up to the
// 10^7 tickets that the configuration allows.
//
// Each slot is present (may be called) or not; both are counted. No slot is in it twice. Each has a
// kind, 0 to 31; every leaf and group has a bit set of the kinds of its present slots, and another
// of the kinds of those slots that are not away as well, so that the first such slot of given kinds
// is found in O(log n), too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "waiting/line/pool.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

// By arrival, and within a millisecond by bits of the random id: so the order is the same after a
// restart, whichever ticket polls first. 44 bits of milliseconds, enough for the years to 2500, and
// 20 bits of the id.
using Order = std::uint64_t;

inline Order order_of(Time arrived, const TicketId& id) {
  const auto milliseconds = static_cast<std::uint64_t>(arrived.time_since_epoch().count());
  const std::uint64_t lot = std::uint64_t{id.bytes[13]} << 12 | std::uint64_t{id.bytes[14]} << 4 |
                            std::uint64_t{id.bytes[15]} >> 4;
  return milliseconds << 20 | lot;
}

class Line {
 public:
  // `slot` below 2^25. It is present, and not away. It goes behind slots of the same order.
  void insert(Slot slot, Order order, std::uint8_t kind = 0);
  void remove(Slot slot);
  // Right before `next`, and with the same order.
  void insert_before(Slot slot, Slot next, std::uint8_t kind = 0);
  void set_present(Slot slot, bool is_present);
  // It still counts as before, but first_here() skips it.
  void set_away(Slot slot, bool is_away);

  struct Ahead {
    std::size_t all = 0;
    std::size_t present = 0;

    Ahead& operator+=(const Ahead& other) {
      all += other.all;
      present += other.present;
      return *this;
    }
  };
  // How many slots stand before it.
  Ahead ahead(Slot slot) const;
  // The first present slot of one of these kinds; kNoSlot: none.
  Slot first_present(std::uint32_t kinds = UINT32_MAX) const { return first_of(kinds); }
  bool has_present(std::uint32_t kinds) const;
  // The first of those that are not away.
  Slot first_here(std::uint32_t kinds = UINT32_MAX) const {
    return first_of(KindBits{kinds} << 32);
  }

  // The slot with that many slots before it; kNoSlot: there is none.
  Slot at(std::size_t ahead) const;
  // How many slots have a lower order.
  Ahead ahead_of(Order order) const;
  std::size_t before(Order order) const { return ahead_of(order).all; }
  Order order(Slot slot) const;
  bool is_present(Slot slot) const;

  bool has(Slot slot) const { return slot < reached_ && leaf_of_[slot] != kNoSlot; }
  std::size_t size() const { return total_.all; }
  std::size_t present() const { return total_.present; }
  Ahead total() const { return total_; }

 private:
  friend struct Archived;
  // In order: the reader may divide the slots into other leaves.
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    std::vector<Entry> entries;
    if constexpr (!Archive::kReads) entries = self.entries();
    archive(entries);
    if constexpr (Archive::kReads) {
      for (const Entry& entry : entries) self.restore(entry);
    }
  }

  struct Entry {
    Slot slot = kNoSlot;
    Order order = 0;
    bool is_present = false;
    bool is_away = false;
    std::uint8_t kind = 0;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.slot, self.order, self.is_present, self.is_away, self.kind);
    }
  };
  std::vector<Entry> entries() const;
  void restore(const Entry& entry);

  static constexpr std::uint32_t kLeaf = 128;
  static constexpr std::uint32_t kGroup = 256;
  // Bits in Leaf::slots: present, kind, away, slot.
  static constexpr std::uint32_t kPresent = 1U << 31;
  static constexpr int kKindAt = 26;
  static constexpr std::uint32_t kAway = 1U << 25;
  static constexpr std::uint32_t kSlots = kAway - 1;
  static Slot slot_of(std::uint32_t entry) { return entry & kSlots; }
  static std::uint32_t kind_of(std::uint32_t entry) { return entry >> kKindAt & 31; }
  // Kinds of the present slots; from bit 32 on the kinds of those of them that are not away.
  using KindBits = std::uint64_t;
  static KindBits bits_of(std::uint32_t entry) {
    if ((entry & kPresent) == 0) return 0;
    const KindBits bit = KindBits{1} << kind_of(entry);
    return (entry & kAway) != 0 ? bit : bit | bit << 32;
  }

  struct Leaf {
    Slot group = kNoSlot;
    std::uint32_t rank = 0;  // in its group
    std::uint32_t size = 0;
    std::array<std::uint32_t, kLeaf> slots{};
    std::array<Order, kLeaf> orders{};
  };
  struct Group {
    std::uint32_t rank = 0;
    std::uint32_t size = 0;
    std::array<Slot, kGroup> leaves{};
    std::array<std::uint32_t, kGroup> all{};  // counts of each leaf
    std::array<std::uint32_t, kGroup> present{};
    std::array<KindBits, kGroup> kinds{};
  };
  struct Place {
    Slot leaf = kNoSlot;
    std::uint32_t at = 0;
  };

  Place find(Slot slot) const;
  Place after_all_of(Order order) const;
  Place make_space(Place place);
  void put(std::uint32_t entry, Order order, Place place);
  Slot add_leaf_after(Slot leaf);
  void split(Slot group);
  void drop_leaf(Slot leaf);
  void merge(Slot leaf);
  void move_tail(Slot from, std::uint32_t at, Slot to);
  void number_leaves(Slot group, std::uint32_t from);
  void number_groups(std::uint32_t from);
  void count(Slot leaf, int all, int present);
  void recount(Slot leaf);
  Slot first_of(KindBits kinds) const;
  static KindBits kinds_in(const Leaf& leaf);
  void add_kinds(Slot leaf, std::uint32_t entry);
  void note_kinds(Slot leaf);
  void set_kinds(Slot leaf, KindBits kinds);

  Pool<Leaf> leaves_;
  Pool<Group> groups_;
  std::vector<Slot> top_;  // the groups in order; below, their counts
  std::vector<std::uint32_t> top_all_;
  std::vector<std::uint32_t> top_present_;
  std::vector<KindBits> top_kinds_;
  Blocks<Slot> leaf_of_;
  Slot reached_ = 0;  // leaf_of_ covers the slots below this
  Ahead total_;
  std::size_t away_ = 0;
};

}  // namespace spillway::waiting
