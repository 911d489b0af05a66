// Signed tokens that are believed of any client: who a visitor of a waiting room is, by a JWT of
// the site's login or a cookie that its backend signs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hmac.hpp"
#include "base/public_key.hpp"

namespace spillway::config {

// How a JWT is signed (RFC 7518 section 3.1, RFC 8037): by its key, whatever the token says.
enum class JwtAlgorithm : std::uint8_t { hs256, rs256, es256, eddsa };

// The kind of its public key; HS256 has none.
constexpr KeyKind kind_of(JwtAlgorithm algorithm) {
  if (algorithm == JwtAlgorithm::rs256) return KeyKind::rsa;
  return algorithm == JwtAlgorithm::es256 ? KeyKind::p256 : KeyKind::ed25519;
}

struct JwtKey {
  std::string kid;  // empty: the only key, of tokens with any `kid`
  JwtAlgorithm algorithm = JwtAlgorithm::hs256;
  std::string key_file;
  std::string secret;                   // set by read_token_keys(), from that file; of HS256
  std::optional<PublicKey> public_key;  // likewise; of the others
};

struct VisitorJwt {
  std::vector<JwtKey> keys;
  std::string header = "Authorization";
  std::string cookie;    // where it is in place of `header`; empty: it is not
  std::string issuer;    // what `iss` has to be; empty: anything
  std::string audience;  // what `aud` has to be or to have; empty: anything
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
