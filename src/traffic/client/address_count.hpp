// Counts the connections of each client address, to enforce a limit per address.
//
// A client is an IPv4 address (also one mapped into IPv6) or an IPv6 /64, the smallest network that
// a provider assigns to a customer. One thread admits; any thread may release a permit. The memory
// is fixed: entries for `max_connections` addresses and a quarter more, in a hash table with
// chaining and a keyed hash (SipHash), since clients choose their addresses. An entry whose count
// is zero is reclaimed when its chain is walked or, at the latest, when entries run out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/ip_address.hpp"
#include "base/sip_hash.hpp"

namespace spillway::traffic {

class AddressCount {
 private:
  struct Entry {
    std::uint64_t client = 0;
    Entry* next = nullptr;  // in its hash chain or in the free list
    std::atomic<std::uint32_t> count{0};
  };
  struct Memory {
    std::vector<std::unique_ptr<Entry[]>> blocks;
  };

 public:
  // Counts one connection of an address until it is destroyed. May outlive the AddressCount. An
  // empty permit counts nothing.
  class Permit {
   public:
    Permit() = default;
    Permit(Permit&& other) noexcept
        : memory_(std::move(other.memory_)), entry_(std::exchange(other.entry_, nullptr)) {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (entry_ != nullptr) entry_->count.fetch_sub(1, std::memory_order_release);
    }

   private:
    friend class AddressCount;
    Permit(std::shared_ptr<Memory> memory, Entry* entry)
        : memory_(std::move(memory)), entry_(entry) {}

    std::shared_ptr<Memory> memory_;
    Entry* entry_ = nullptr;
  };

  // max_connections: for all clients together, at least 1.
  AddressCount(std::uint32_t max_connections, SipKey key);
  // Raises max_connections; a smaller value has no effect.
  void grow(std::uint32_t max_connections);

  // nullopt if the client already has max_per_client connections. Connections beyond
  // max_connections may get an empty permit.
  std::optional<Permit> admit(const IpAddress& address, std::uint32_t max_per_client);

 private:
  Entry*& chain(std::uint64_t client);
  // Moves the entries of this chain whose count is zero to the free list.
  void clear_chain(Entry*& first);

  SipKey key_;
  std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
  std::size_t size_ = 0;        // total number of entries
  std::vector<Entry*> chains_;  // the first entry of each chain
  Entry* free_ = nullptr;
};

}  // namespace spillway::traffic
