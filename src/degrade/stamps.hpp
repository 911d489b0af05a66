// Since when answers to a URI must have been asked for to be good: a small table of times, so that
// a URI's answers, however many, are ended at once. URIs that share a place are ended together.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace spillway::degrade {

class Stamps {
 public:
  explicit Stamps(std::size_t places)
      : ended_at_(std::bit_ceil(std::max<std::size_t>(places, 1)), TimePoint::min()) {}

  void end(std::uint64_t uri_hash, TimePoint now) {
    TimePoint& at = ended_at_[place(uri_hash)];
    at = std::max(at, now);
  }
  // Those asked for in the same instant may be from before.
  bool has_ended(std::uint64_t uri_hash, TimePoint requested_at) const {
    return requested_at <= ended_at_[place(uri_hash)];
  }

  std::size_t bytes() const { return ended_at_.capacity() * sizeof(TimePoint); }

 private:
  // Shards go by the lowest bits.
  std::size_t place(std::uint64_t hash) const { return (hash >> 8) & (ended_at_.size() - 1); }

  std::vector<TimePoint> ended_at_;
};

}  // namespace spillway::degrade
