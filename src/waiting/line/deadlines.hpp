// At most one deadline for each of many slots: a hashed timer wheel (Varghese and Lauck, SOSP 1987,
// scheme 6). Setting, moving and clearing one is O(1); a tick visits only the buckets of the time
// that has passed. Exact to the millisecond, although a bucket spans 100 ms.
#pragma once

#include <algorithm>
#include <vector>

#include "waiting/line/pool.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

class Deadlines {
 public:
  Deadlines() : heads_(kBuckets, kNoSlot) {}

  // A deadline in the past is due at the next expire().
  void set(Slot slot, Time due);
  void clear(Slot slot);

  // Calls `fire(slot)` for each deadline up to `now`, in no particular order, after clearing all of
  // them; `fire` may set and clear those of its own slot.
  template <class Fire>
  void expire(Time now, const Fire& fire) {
    collect(now);
    for (const Slot slot : due_) fire(slot);
  }

 private:
  friend struct Archived;
  // As lists, so that deadlines fire in the same order after reading.
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.turned_);
    if constexpr (Archive::kReads) {
      std::vector<Entry> entries;
      archive(entries);
      for (const Entry& entry : entries) self.restore(entry);
    } else {
      archive(self.entries());
    }
  }

  struct Entry {
    std::uint32_t bucket = 0;
    Slot slot = kNoSlot;
    Time due{};

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.bucket, self.slot, self.due);
    }
  };
  std::vector<Entry> entries() const;
  void restore(const Entry& entry);
  void link(Slot slot, std::uint32_t bucket);

  static constexpr Milliseconds kWidth{100};
  static constexpr std::int64_t kBuckets = 8192;  // a turn is 819 s; later ones stay for more turns

  struct Node {
    Time due{};
    Slot before = kNoSlot;
    Slot after = kNoSlot;
    std::uint32_t bucket = kNoBucket;
  };
  static constexpr std::uint32_t kNoBucket = UINT32_MAX;

  void collect(Time now);

  Blocks<Node> nodes_;
  std::vector<Slot> heads_;
  std::vector<Slot> due_;
  std::int64_t turned_ = 0;  // the bucket, counted from the epoch, up to which all time is past
};

}  // namespace spillway::waiting
