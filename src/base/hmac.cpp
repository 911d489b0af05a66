#include "base/hmac.hpp"

#include <nettle/hmac.h>

namespace spillway {

Sha256 hmac_sha256(std::span<const std::uint8_t> key, std::string_view text) {
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, key.size(), key.data());
  hmac_sha256_update(&context, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
  Sha256 code;
  hmac_sha256_digest(&context, code.size(), code.data());
  return code;
}

}  // namespace spillway
