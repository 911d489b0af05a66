// How the slots of one upstream are divided among its servers. Each has a part and gets no more: if
// a server is lost, its part is lost with it, and the others keep theirs.
//
// Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "resilience/server_set.hpp"
#include "resilience/server_shares.hpp"

namespace spillway::resilience {

// By the servers' shares. If these are equal and the division leaves a remainder, the first servers
// have one slot more. With fewer slots than servers each server has one, but all together no more
// than there are.
class SlotParts {
 public:
  // `servers`: at least 1. With equal shares.
  constexpr SlotParts(std::uint32_t slots, std::size_t servers)
      : slots_(slots),
        each_(slots / static_cast<std::uint32_t>(servers)),
        rest_(slots % static_cast<std::uint32_t>(servers)) {}
  // Keeps a reference.
  SlotParts(std::uint32_t slots, const ServerShares& shares) : SlotParts(slots, shares.servers()) {
    if (!shares.are_equal()) shares_ = &shares;
  }

  constexpr std::uint32_t of(std::size_t server) const {
    if (shares_ != nullptr) {
      const std::uint32_t begins = server > 0 ? end(server - 1) : 0;
      return std::max(end(server), begins + 1) - begins;
    }
    return std::max(server < rest_ ? each_ + 1 : each_, 1u);
  }
  // The parts of these servers together.
  constexpr std::uint32_t of(ServerSet servers) const {
    std::uint64_t sum = 0;
    if (shares_ != nullptr) {
      for (; !servers.empty(); servers.erase(servers.front())) sum += of(servers.front());
      return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, slots_));
    }
    const std::uint64_t more = (servers & ServerSet::first(rest_)).size();
    sum = each_ == 0 ? servers.size() : servers.size() * each_ + more;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, slots_));
  }

 private:
  // The number of slots up to the end of its part; rounded, so that the parts add up to all slots.
  std::uint32_t end(std::size_t server) const {
    constexpr std::uint64_t kHalf = ServerShares::kWhole / 2;
    return static_cast<std::uint32_t>((std::uint64_t{slots_} * shares_->end(server) + kHalf) /
                                      ServerShares::kWhole);
  }

  std::uint32_t slots_, each_, rest_;
  const ServerShares* shares_ = nullptr;
};

}  // namespace spillway::resilience
