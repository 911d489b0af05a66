// Invalidation times of URIs: a response requested before its URI's time is invalid (RFC 9111
// section 4.4). One entry invalidates all variants of a URI at once, stored or still arriving.
//
// A table of fixed size. Each slot keeps the latest three URIs separately; of a displaced one only
// the time is kept, and from then on invalidates every response of the slot requested before it:
// sometimes too many responses, never too few.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace spillway::cache {

class InvalidationTimes {
 public:
  static constexpr std::size_t kUrisInSlot = 3;

  // With room for about this many URIs.
  explicit InvalidationTimes(std::size_t uris)
      : slots_(std::bit_ceil(std::max<std::size_t>(uris / kUrisInSlot, 1))) {}

  void invalidate(std::uint64_t uri_hash, TimePoint now) {
    Slot& slot = slots_[index_of(uri_hash)];
    Entry* oldest = slot.latest.data();
    for (Entry& entry : slot.latest) {
      if (entry.uri_hash == uri_hash) {
        entry.at = std::max(entry.at, now);
        return;
      }
      if (entry.at < oldest->at) oldest = &entry;
    }
    slot.others = std::max(slot.others, oldest->at);
    *oldest = {uri_hash, now};
  }
  // A response requested at the exact time of the invalidation may be older than the change.
  bool is_invalid(std::uint64_t uri_hash, TimePoint requested_at) const {
    const Slot& slot = slots_[index_of(uri_hash)];
    if (requested_at <= slot.others) return true;
    for (const Entry& entry : slot.latest) {
      if (entry.uri_hash == uri_hash) return requested_at <= entry.at;
    }
    return false;
  }

  std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Entry {
    std::uint64_t uri_hash = 0;
    TimePoint at = TimePoint::min();
  };
  struct Slot {
    std::array<Entry, kUrisInSlot> latest;
    TimePoint others = TimePoint::min();
  };

  // The lowest bits choose the shard.
  std::size_t index_of(std::uint64_t hash) const { return (hash >> 8) & (slots_.size() - 1); }

  std::vector<Slot> slots_;
};

}  // namespace spillway::cache
