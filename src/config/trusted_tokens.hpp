// Signed tokens that are believed from any client: they identify a visitor of a waiting room, by a
// JWT of the site's login or a cookie that the site's backend signs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hmac.hpp"
#include "base/public_key.hpp"

namespace spillway::config {

// How a JWT is signed (RFC 7518 section 3.1, RFC 8037): set by its key, not by the token.
enum class JwtAlgorithm : std::uint8_t { hs256, rs256, es256, eddsa };

// The kind of public key it uses; HS256 has none.
constexpr KeyKind kind_of(JwtAlgorithm algorithm) {
  if (algorithm == JwtAlgorithm::rs256) return KeyKind::rsa;
  return algorithm == JwtAlgorithm::es256 ? KeyKind::p256 : KeyKind::ed25519;
}

struct JwtKey {
  std::string kid;  // empty: the only key, for tokens with any `kid`
  JwtAlgorithm algorithm = JwtAlgorithm::hs256;
  std::string key_file;
  std::string secret;                   // set by read_token_keys() from that file; for HS256
  std::optional<PublicKey> public_key;  // likewise; for the other algorithms
};

struct VisitorJwt {
  std::vector<JwtKey> keys;
  std::string header = "Authorization";
  std::string cookie;    // the cookie that has it instead of `header`; empty: none
  std::string issuer;    // the required `iss`; empty: any
  std::string audience;  // what `aud` must equal or contain; empty: any
  std::string tier_claim = "tier";
  std::string user_claim = "sub";
};

struct CookieKey {
  std::string kid;
  std::string key_file;
  std::optional<HmacKey> key;  // set by read_token_keys(), from that file
};

struct TierCookie {
  std::string name = "tier";
  std::vector<CookieKey> keys;
};

struct TrustedTokens {
  std::optional<VisitorJwt> jwt;
  std::optional<TierCookie> cookie;
};

}  // namespace spillway::config
