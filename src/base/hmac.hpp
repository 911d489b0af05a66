// HMAC-SHA256 (RFC 2104), computed by Nettle. Allocates nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/sha256.hpp"

namespace spillway {

using HmacKey = std::array<std::uint8_t, 32>;

Sha256 hmac_sha256(const HmacKey& key, std::string_view text);

}  // namespace spillway
