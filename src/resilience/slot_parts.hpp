// How the slots of one upstream are divided among its servers. Each has a part and is given no
// more: when one is lost, its part is lost with it, and the others keep theirs.
//
// Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "resilience/server_set.hpp"

namespace spillway::resilience {

// Equal parts, since servers have no weights; where they do not come out even the first ones have
// one more. With fewer slots than servers each server has one, and all together no more than there
// are.
class SlotParts {
 public:
  // `servers`: at least 1.
  constexpr SlotParts(std::uint32_t slots, std::size_t servers)
      : slots_(slots),
        each_(slots / static_cast<std::uint32_t>(servers)),
        rest_(slots % static_cast<std::uint32_t>(servers)) {}

  constexpr std::uint32_t of(std::size_t server) const {
    return std::max(server < rest_ ? each_ + 1 : each_, 1u);
  }
  // Of these together.
  constexpr std::uint32_t of(ServerSet servers) const {
    const std::uint64_t more = (servers & ServerSet::first(rest_)).size();
    const std::uint64_t sum = each_ == 0 ? servers.size() : servers.size() * each_ + more;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, slots_));
  }

 private:
  std::uint32_t slots_, each_, rest_;
};

}  // namespace spillway::resilience
