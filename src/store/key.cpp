#include "store/key.hpp"

#include <nettle/sha2.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

namespace spillway::store {

namespace {

std::optional<std::uint8_t> digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

std::optional<Key> from_digits(std::string_view text) {
  Key key;
  if (text.size() != 2 * key.bytes.size()) return std::nullopt;
  for (std::size_t n = 0; n < key.bytes.size(); ++n) {
    const auto high = digit(text[2 * n]), low = digit(text[2 * n + 1]);
    if (!high || !low) return std::nullopt;
    key.bytes[n] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return key;
}

}  // namespace

KeyFile read_key_file(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    return {std::nullopt, path.string() + ": " + std::strerror(errno)};
  }
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return {std::nullopt, path.string() +
                              " is open to its group or to others; its mode has to be "
                              "0600 or 0400"};
  }
  std::ifstream in(path, std::ios::binary);
  std::string text(67, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() == 32) {
    Key key;
    std::copy(text.begin(), text.end(), key.bytes.begin());
    return {key, ""};
  }
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (const std::optional<Key> key = from_digits(text)) return {key, ""};
  return {std::nullopt, path.string() + " holds neither 32 bytes nor 64 hexadecimal digits"};
}

KeyMark mark_of(const std::optional<Key>& key) {
  KeyMark mark{};
  if (!key) return mark;
  constexpr std::string_view kPurpose = "spillway: the mark of a store's key";
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, kPurpose.size(), reinterpret_cast<const std::uint8_t*>(kPurpose.data()));
  sha256_update(&context, key->bytes.size(), key->bytes.data());
  sha256_digest(&context, mark.size(), mark.data());
  return mark;
}

}  // namespace spillway::store
