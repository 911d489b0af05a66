#include "config/file/key_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace spillway::config {

namespace {

constexpr std::size_t kFewestSecretBytes = 32;  // as many as its hash (RFC 7518 section 3.2)
constexpr std::size_t kMostSecretBytes = 4096;
constexpr std::size_t kMostPemBytes = 16384;

void drop_line_end(std::string& text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
}

// Permissions that only the file's owner may have, and the message if others have them.
struct Access {
  mode_t none;
  const char* what;
};
constexpr Access kPrivate{S_IRWXG | S_IRWXO,
                          " is open to its group or to others; its mode has to be 0600 or 0400"};
constexpr Access kPublic{S_IWGRP | S_IWOTH,
                         " can be written by its group or by others; its mode has to be 0644 or "
                         "less"};

// Reads up to `most` + 1 bytes. Returns the error with the file's name; empty on success.
std::string read(const std::filesystem::path& path, const Access& access, std::size_t most,
                 std::string& text) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return path.string() + ": " + std::strerror(errno);
  // Devices and pipes may block, or never end.
  if (!S_ISREG(found.st_mode)) return path.string() + " is not a regular file";
  if ((found.st_mode & access.none) != 0) return path.string() + access.what;
  std::ifstream in(path, std::ios::binary);
  if (!in) return path.string() + ": " + std::strerror(errno);
  text.resize(most + 1);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return {};
}

}  // namespace

KeyFile<HmacKey> read_key_file(const std::filesystem::path& path) {
  std::string text;
  if (std::string why = read(path, kPrivate, 66, text); !why.empty()) return {{}, std::move(why)};
  HmacKey key;
  if (text.size() == key.size()) {
    std::ranges::copy(text, key.begin());
    return {key, ""};
  }
  drop_line_end(text);
  // A key has the size of a SHA-256 digest, so it is parsed as one.
  if (const auto digits = parse_sha256(text)) return {digits, ""};
  return {{}, path.string() + " holds neither 32 bytes nor 64 hexadecimal digits"};
}

KeyFile<std::string> read_secret_file(const std::filesystem::path& path) {
  std::string text;
  if (std::string why = read(path, kPrivate, kMostSecretBytes + 2, text); !why.empty())
    return {{}, std::move(why)};
  drop_line_end(text);
  if (text.starts_with("-----BEGIN"))  // it may be a public key: anybody could then sign with it
    return {{}, path.string() + " holds a key in PEM, which is no secret of HS256"};
  if (text.size() < kFewestSecretBytes || text.size() > kMostSecretBytes)
    return {{},
            path.string() + " holds a secret of " + std::to_string(text.size()) +
                " bytes, allowed: 32 to 4096"};
  return {std::move(text), ""};
}

KeyFile<PublicKey> read_public_key_file(const std::filesystem::path& path) {
  std::string text;
  if (std::string why = read(path, kPublic, kMostPemBytes, text); !why.empty())
    return {{}, std::move(why)};
  ReadPublicKey found = read_public_key(text);
  if (found.key) return {std::move(found.key), ""};
  return {{}, path.string() + ' ' + found.problem};
}

}  // namespace spillway::config
