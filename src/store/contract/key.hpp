// The key of a store that is encrypted at rest.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace spillway::store {

// An AES-256 key.
struct Key {
  std::array<std::uint8_t, 32> bytes{};

  bool operator==(const Key&) const = default;
};

// Stored to recognise the key later: 16 bytes of a SHA-256, which reveal nothing about the key.
using KeyMark = std::array<std::uint8_t, 16>;
// All zero without a key.
KeyMark mark_of(const std::optional<Key>& key);

}  // namespace spillway::store
