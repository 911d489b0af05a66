// How many connections each client address has, so that none has more than its share of them.
//
// An IPv4 client is its address, also where it comes through an IPv6 socket; an IPv6 client is its
// /64, which is what one customer of a provider has at least. One thread admits; any thread may let
// go of a place. The memory is fixed: places for `most` addresses and a quarter more, in chains
// by a keyed hash (SipHash), since clients choose what is hashed. An address of which nothing is
// left goes when its chain is walked or, at the latest, when places run out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/ip_address.hpp"
#include "traffic/sip_hash.hpp"

namespace spillway::traffic {

class AddressCount {
 private:
  struct Entry {
    std::uint64_t client = 0;
    Entry* next = nullptr;  // in its chain, or among the free ones
    std::atomic<std::uint32_t> count{0};
  };
  struct Memory {
    std::vector<std::unique_ptr<Entry[]>> blocks;
  };

 public:
  // One connection's part of its address's count, given back at its end, whichever of the two
  // objects goes first. An empty one counts nowhere.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept
        : memory_(std::move(other.memory_)), entry_(std::exchange(other.entry_, nullptr)) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (entry_ != nullptr) entry_->count.fetch_sub(1, std::memory_order_release);
    }

   private:
    friend class AddressCount;
    Place(std::shared_ptr<Memory> memory, Entry* entry)
        : memory_(std::move(memory)), entry_(entry) {}

    std::shared_ptr<Memory> memory_;
    Entry* entry_ = nullptr;
  };

  // most: connections that there may be at a time, at least 1.
  AddressCount(std::uint32_t most, SipKey key);
  // From now on there may be so many; fewer than before changes nothing.
  void grow(std::uint32_t most);

  // nullopt when the address has that many already. Should there be more connections than `most`,
  // those for which no place is left count nowhere.
  std::optional<Place> admit(const IpAddress& address, std::uint32_t most_of_one);

  // Addresses that take up memory now, for tests.
  std::size_t remembered() const { return remembered_; }

 private:
  Entry*& chain(std::uint64_t client);
  // Puts the entries of this chain that count nothing among the free ones.
  void clear_chain(Entry*& first);

  SipKey key_;
  std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
  std::size_t size_ = 0;        // entries in all
  std::vector<Entry*> chains_;  // the first entry of each
  Entry* free_ = nullptr;
  std::size_t remembered_ = 0;
};

}  // namespace spillway::traffic
