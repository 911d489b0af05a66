// HMAC-SHA256 (RFC 2104), computed by Nettle. Allocates nothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/sha256.hpp"

namespace spillway {

using HmacKey = std::array<std::uint8_t, 32>;

// A key of any length: an HmacKey, or a secret that another party has chosen.
Sha256 hmac_sha256(std::span<const std::uint8_t> key, std::string_view text);

}  // namespace spillway
