// How much of a shared resource each client address has taken, so that no single client can take
// all of it. A client is defined as in AddressCount.
//
// Lock-free and thread-safe, in fixed memory: a counter for each hash value. Clients whose hashes
// collide share a counter; a client cannot find out or choose with whom (SipHash).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ip_address.hpp"
#include "base/sip_hash.hpp"
#include "traffic/client/client_address.hpp"

namespace spillway::traffic {

class ClientShares {
 public:
  // The amount that one client has taken; never below zero.
  class Share {
   public:
    void add(std::int64_t more) { taken_.fetch_add(more, std::memory_order_relaxed); }
    std::uint64_t taken() const {
      return static_cast<std::uint64_t>(taken_.load(std::memory_order_relaxed));
    }

   private:
    std::atomic<std::int64_t> taken_{0};
  };

  explicit ClientShares(SipKey key) : key_(key) {}
  SipKey key() const { return key_; }

  // The reference is valid as long as this object.
  Share& of(const IpAddress& address) {
    const IpAddress client = client_network(address);
    const std::string_view bytes(reinterpret_cast<const char*>(client.bytes.data()),
                                 client.bytes.size());
    return shares_[sip_hash(key_, bytes) % shares_.size()];
  }

 private:
  SipKey key_;
  std::array<Share, 4096> shares_;
};

}  // namespace spillway::traffic
