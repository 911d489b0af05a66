// Bytes as text: base64 (RFC 4648).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace spillway {

// Section 4, with padding.
std::string base64(std::string_view bytes);

// Section 5, the alphabet for URLs and file names, without padding.
constexpr std::size_t base64url_size(std::size_t bytes) { return (bytes * 4 + 2) / 3; }
// How many bytes a text of that size is of, if it is of any.
constexpr std::size_t base64url_bytes(std::size_t text) { return text * 3 / 4; }
// `to` has room for base64url_size(bytes.size()).
void write_base64url(std::span<const std::uint8_t> bytes, char* to);
// Fills `bytes`. False if `text` is not the one form in which these many bytes are written.
bool read_base64url(std::string_view text, std::span<std::uint8_t> bytes);

}  // namespace spillway
