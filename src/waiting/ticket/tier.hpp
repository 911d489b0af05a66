// The tiers of a waiting room: the order in which they are called, and their guaranteed shares.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace spillway::waiting {

// The higher one goes first. The store and the tokens have this, not a tier's name or number, so
// that a reload may change the tiers while visitors wait.
using Priority = std::uint8_t;

struct Tier {
  Priority priority = 0;
  double share = 0;  // part of the calls that it is guaranteed, 0 to below 1

  bool operator==(const Tier&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.priority, self.share);
  }
};

inline constexpr std::size_t kMostTiers = 8;

// The highest first; their priorities differ.
struct Tiers {
  std::array<Tier, kMostTiers> list{};
  std::size_t count = 1;

  bool operator==(const Tiers&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.list, self.count);
  }

  const Tier* begin() const { return list.data(); }
  const Tier* end() const { return list.data() + count; }
  // If no tier has this priority: the next lower tier, or else the lowest.
  std::size_t number_of(Priority priority) const {
    const auto* const found =
        std::find_if(begin(), end(), [&](const Tier& tier) { return tier.priority <= priority; });
    return std::min(static_cast<std::size_t>(found - begin()), count - 1);
  }
  // 0 if no tier has this priority.
  double share_of(Priority priority) const {
    const auto* const found =
        std::find_if(begin(), end(), [&](const Tier& tier) { return tier.priority == priority; });
    return found == end() ? 0 : found->share;
  }
};

}  // namespace spillway::waiting
