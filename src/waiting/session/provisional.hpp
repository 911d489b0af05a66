// Entries that are no session yet: visitors that were let in at once and have not shown their pass.
// Only counted, by the second in which the pass was issued, each for kSlice and up to a second
// more; so a flood of clients that keep no cookies costs no memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

class Provisional {
 public:
  // A provisional pass is honoured for this long: kSlice.
  static constexpr std::int64_t kSeconds = 60;

  void add(Time now) {
    Bucket& bucket = at(second_of(now));
    if (bucket.second != second_of(now)) bucket = {second_of(now), 0};
    ++bucket.entries;
  }
  // Whether an entry is left whose pass was issued in that second.
  bool has(Time issued, Time now) const {
    const std::int64_t second = second_of(issued);
    const Bucket& bucket = buckets_[place_of(second)];
    return bucket.second == second && !is_over(bucket, now) && bucket.entries > 0;
  }
  // One entry becomes a session. false: there is none.
  bool take(Time issued, Time now) {
    if (!has(issued, now)) return false;
    --at(second_of(issued)).entries;
    return true;
  }
  std::size_t count(Time now) const {
    std::size_t total = 0;
    for (const Bucket& bucket : buckets_) total += is_over(bucket, now) ? 0 : bucket.entries;
    return total;
  }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.buckets_);
  }

  static constexpr std::size_t kBuckets = 64;
  struct Bucket {
    std::int64_t second = -1;
    std::size_t entries = 0;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.second, self.entries);
    }
  };

  static std::int64_t second_of(Time at) { return at.time_since_epoch() / std::chrono::seconds(1); }
  static bool is_over(const Bucket& bucket, Time now) {
    return bucket.second < 0 || second_of(now) > bucket.second + kSeconds;
  }
  static std::size_t place_of(std::int64_t second) {
    return static_cast<std::size_t>(second) % kBuckets;
  }
  Bucket& at(std::int64_t second) { return buckets_[place_of(second)]; }

  std::array<Bucket, kBuckets> buckets_{};
};

}  // namespace spillway::waiting
