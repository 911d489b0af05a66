// Entries that are no session yet: visitors who were let in at once and have not shown their pass.
// Only counted, by the second in which the pass was issued, each for kSlice and up to a second
// more; so a flood of clients that keep no cookies costs no memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "waiting/archive.hpp"
#include "waiting/ticket.hpp"

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
  // One issued then becomes a session. false: none is left of that second.
  bool take(Time issued, Time now) {
    const std::int64_t second = second_of(issued);
    Bucket& bucket = at(second);
    if (bucket.second != second || is_over(bucket, now) || bucket.entries == 0) return false;
    --bucket.entries;
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
  Bucket& at(std::int64_t second) {
    return buckets_[static_cast<std::size_t>(second) % buckets_.size()];
  }

  std::array<Bucket, 64> buckets_{};
};

}  // namespace spillway::waiting
