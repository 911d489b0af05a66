// The ghost queue of S3-FIFO: keys that recently left the small queue, as 32-bit fingerprints of
// their hashes in a table of fixed size.
//
// A key is remembered until `memory` bytes of responses have left after it, unless eight others of
// its bucket leave first. Two keys are confused with a probability of 2^-31.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spillway::cache {

class GhostQueue {
 public:
  GhostQueue(std::size_t keys, std::size_t memory)
      : buckets_(std::bit_ceil(std::max<std::size_t>(keys / kWays, 1))),
        memory_(static_cast<std::uint32_t>(memory / kUnit)) {}

  void add(std::uint64_t hash, std::size_t bytes) {
    evicted_bytes_ += bytes;
    Bucket& bucket = bucket_of(hash);
    const auto oldest = [&](const Key& a, const Key& b) { return age(a) < age(b); };
    *std::max_element(bucket.begin(), bucket.end(), oldest) = {fingerprint(hash), clock()};
  }
  // Whether the key was remembered; it is forgotten by this call.
  bool take(std::uint64_t hash) {
    for (Key& key : bucket_of(hash)) {
      if (key.fingerprint == fingerprint(hash) && age(key) <= memory_) {
        key = {};
        return true;
      }
    }
    return false;
  }

  std::size_t bytes() const { return buckets_.capacity() * sizeof(Bucket); }

 private:
  static constexpr std::size_t kWays = 8;
  static constexpr std::size_t kUnit = 256;  // bytes per tick of the clock

  struct Key {
    std::uint32_t fingerprint = 0;  // 0: none
    std::uint32_t evicted_at = 0;
  };
  using Bucket = std::array<Key, kWays>;

  static std::uint32_t fingerprint(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 32) | 1;
  }
  Bucket& bucket_of(std::uint64_t hash) { return buckets_[hash & (buckets_.size() - 1)]; }
  std::uint32_t clock() const { return static_cast<std::uint32_t>(evicted_bytes_ / kUnit); }
  std::uint32_t age(const Key& key) const { return clock() - key.evicted_at; }

  std::vector<Bucket> buckets_;
  std::uint32_t memory_;
  std::uint64_t evicted_bytes_ = 0;  // in total
};

}  // namespace spillway::cache
