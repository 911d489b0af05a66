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
// The number of bytes that a text of this size encodes, if it encodes any.
constexpr std::size_t base64url_bytes(std::size_t text) { return text * 3 / 4; }
// `to` must have room for base64url_size(bytes.size()).
void write_base64url(std::span<const std::uint8_t> bytes, char* to);
// Fills `bytes`. False if `text` is not the canonical encoding of exactly that many bytes.
bool read_base64url(std::string_view text, std::span<std::uint8_t> bytes);

}  // namespace spillway
