// Token buckets for any number of keys in fixed memory: keys with the same hash share a bucket.
// Thread-safe, without a lock.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/sip_hash.hpp"
#include "resilience/token_bucket.hpp"

namespace spillway::proxy {

class HashedBuckets {
 public:
  static constexpr std::size_t kPlaces = 4096;  // 32 KiB

  // The key keeps clients from finding values that share a bucket with others.
  explicit HashedBuckets(SipKey key) : key_(key) {}

  resilience::TokenBucket& of(std::string_view bytes) {
    return places_[sip_hash(key_, bytes) % kPlaces];
  }

 private:
  const SipKey key_;
  std::array<resilience::TokenBucket, kPlaces> places_;
};

}  // namespace spillway::proxy
