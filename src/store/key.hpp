// The key of a store that is encrypted at rest.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace spillway::store {

// Of AES-256.
struct Key {
  std::array<std::uint8_t, 32> bytes{};

  bool operator==(const Key&) const = default;
};

struct KeyFile {
  std::optional<Key> key;  // nullopt: see problem
  std::string problem;     // one sentence
};

// The file holds 32 bytes, or 64 hexadecimal digits with or without a line end. One that its group
// or others can read or write is refused.
KeyFile read_key_file(const std::filesystem::path& path);

// What a store keeps to know its key again: 16 bytes of a SHA-256, which say nothing of the key.
using KeyMark = std::array<std::uint8_t, 16>;
// All zero without a key.
KeyMark mark_of(const std::optional<Key>& key);

}  // namespace spillway::store
