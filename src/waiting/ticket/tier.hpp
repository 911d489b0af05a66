// The tiers of a waiting room: who is called first, and what the others get in any case.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace spillway::waiting {

// The higher one goes first. It is written down and carried in tokens, not a tier's name or number:
// so a reload may change the tiers while visitors wait.
using Priority = std::uint8_t;

struct Tier {
  Priority priority = 0;
  double share = 0;  // of the calls that it gets in any case, 0 to below 1

  bool operator==(const Tier&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.priority, self.share);
  }
};

inline constexpr std::size_t kMostTiers = 8;

// The highest first, of different priorities.
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
  // Of a priority that none has: the next lower tier, or else the lowest.
  std::size_t number_of(Priority priority) const {
    const auto* const found =
        std::find_if(begin(), end(), [&](const Tier& tier) { return tier.priority <= priority; });
    return std::min(static_cast<std::size_t>(found - begin()), count - 1);
  }
  // 0: of none.
  double share_of(Priority priority) const {
    const auto* const found =
        std::find_if(begin(), end(), [&](const Tier& tier) { return tier.priority == priority; });
    return found == end() ? 0 : found->share;
  }
};

}  // namespace spillway::waiting
