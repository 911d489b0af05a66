// Which keys left the store of late: a fingerprint of each, in a table of fixed size.
//
// A key is remembered until records of `memory` bytes have left after it, unless eight others that
// fall into its bucket leave first. One key is mistaken for another once in 2^31.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spillway::cache {

class Ghost {
 public:
  Ghost(std::size_t keys, std::size_t memory)
      : buckets_(std::bit_ceil(std::max<std::size_t>(keys / kWays, 1))),
        memory_(static_cast<std::uint32_t>(memory / kUnit)) {}

  void add(std::uint64_t hash, std::size_t bytes) {
    left_ += bytes;
    Bucket& bucket = buckets_[hash & (buckets_.size() - 1)];
    const std::uint32_t at = clock();
    *std::max_element(bucket.begin(), bucket.end(), [&](const Key& a, const Key& b) {
      return at - a.left_at < at - b.left_at;
    }) = {fingerprint(hash), at};
  }
  bool contains(std::uint64_t hash) const { return find(hash) != nullptr; }
  void forget(std::uint64_t hash) {
    if (const Key* const key = find(hash)) const_cast<Key&>(*key) = {};
  }

  std::size_t bytes() const { return buckets_.capacity() * sizeof(Bucket); }

 private:
  static constexpr std::size_t kWays = 8;
  static constexpr std::size_t kUnit = 256;  // bytes

  struct Key {
    std::uint32_t fingerprint = 0;  // 0: none
    std::uint32_t left_at = 0;
  };
  using Bucket = std::array<Key, kWays>;

  static std::uint32_t fingerprint(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 32) | 1;
  }
  const Key* find(std::uint64_t hash) const {
    for (const Key& key : buckets_[hash & (buckets_.size() - 1)]) {
      if (key.fingerprint == fingerprint(hash) && clock() - key.left_at <= memory_) return &key;
    }
    return nullptr;
  }
  std::uint32_t clock() const { return static_cast<std::uint32_t>(left_ / kUnit); }

  std::vector<Bucket> buckets_;
  std::uint32_t memory_;
  std::uint64_t left_ = 0;  // bytes, ever
};

}  // namespace spillway::cache
