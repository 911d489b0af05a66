// Files with keys.
//
// A secret that its group or others can read or write is rejected, and so is a public key that they
// can write: with another key in its place they could make tokens that are believed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/hmac.hpp"
#include "base/public_key.hpp"

namespace spillway::config {

template <class Key>
struct KeyFile {
  std::optional<Key> key;  // nullopt: see problem
  std::string problem;     // one sentence
};

// Reads a key of 32 bytes, or of 64 hexadecimal digits with or without a line end.
KeyFile<HmacKey> read_key_file(const std::filesystem::path& path);

// A secret that another party has chosen, 32 to 4096 bytes, without a line end after it. A PEM key
// is rejected.
KeyFile<std::string> read_secret_file(const std::filesystem::path& path);

// As read_public_key().
KeyFile<PublicKey> read_public_key_file(const std::filesystem::path& path);

}  // namespace spillway::config
