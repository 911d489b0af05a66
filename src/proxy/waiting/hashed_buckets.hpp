// Token buckets for any number of keys in a fixed space: keys that fall on the same place have it
// together. Thread-safe, without a lock.
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

  // The key keeps clients from finding keys that share a place with others.
  explicit HashedBuckets(SipKey key) : key_(key) {}

  resilience::TokenBucket& of(std::string_view bytes) {
    return places_[sip_hash(key_, bytes) % kPlaces];
  }

 private:
  const SipKey key_;
  std::array<resilience::TokenBucket, kPlaces> places_;
};

}  // namespace spillway::proxy
