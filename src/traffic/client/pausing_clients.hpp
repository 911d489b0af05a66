// The clients that lately kept a slot waiting and took nothing, so that they need not show it anew
// with each connection. A client is what AddressCount takes for one.
//
// In fixed memory: a client whose hash falls on the place of another one takes that. Which do, a
// client cannot know or choose (SipHash). One owner, not thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ip_address.hpp"
#include "base/sip_hash.hpp"
#include "base/time.hpp"
#include "traffic/client/client_address.hpp"

namespace spillway::traffic {

class PausingClients {
 public:
  static constexpr std::size_t kMost = 4096;
  // How long a client is remembered.
  static constexpr Duration kMemory = std::chrono::seconds(10);

  explicit PausingClients(SipKey key) : key_(key) {}

  void note(const IpAddress& address, TimePoint now) {
    const std::uint64_t client = hash_of(address);
    clients_[client % kMost] = {client, now};
  }
  bool is_noted(const IpAddress& address, TimePoint now) const {
    const std::uint64_t client = hash_of(address);
    const Client& noted = clients_[client % kMost];
    return noted.hash == client && noted.at != kNever && now - noted.at < kMemory;
  }

 private:
  struct Client {
    std::uint64_t hash = 0;
    TimePoint at = kNever;
  };

  std::uint64_t hash_of(const IpAddress& address) const {
    const IpAddress client = client_network(address);
    return sip_hash(key_,
                    {reinterpret_cast<const char*>(client.bytes.data()), client.bytes.size()});
  }

  SipKey key_;
  std::array<Client, kMost> clients_{};
};

}  // namespace spillway::traffic
