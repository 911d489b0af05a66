// A verified user of one waiting room, under a keyed hash: the user cannot be identified from it
// without the key and the user's name.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>

namespace spillway::waiting {

struct UserKey {
  std::array<std::uint8_t, 16> bytes{};

  // The visitor has no verified user.
  bool is_nobody() const {
    return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
  }
  auto operator<=>(const UserKey&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.bytes);
  }
};

}  // namespace spillway::waiting
