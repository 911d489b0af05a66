// JSON Web Tokens (RFC 7519) in JWS compact serialization (RFC 7515 section 3.1), following RFC
// 8725: the key determines the algorithm, not the token; "none" is rejected, and so are critical
// extensions (crit); the payload is parsed only after its signature is verified.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/trusted_tokens.hpp"
#include "traffic/trusted_token/visitor_claims.hpp"

namespace spillway::traffic {

class JwtReader {
 public:
  explicit JwtReader(config::VisitorJwt settings) : settings_(std::move(settings)) {}

  // Does not check the time. A token must have `exp`; the registered claims used here have the
  // types of RFC 7519, tier and user are strings.
  VerifiedToken read(std::string_view text) const;

  // Whether verifying a signature takes more than a hash.
  bool has_public_keys() const;

 private:
  struct Parts;
  std::variant<const config::JwtKey*, TokenFault> key_of(std::string_view head) const;
  VerifiedToken claims_of(std::string_view payload) const;

  config::VisitorJwt settings_;
};

}  // namespace spillway::traffic
