// JSON Web Tokens (RFC 7519) in the compact form of signatures (RFC 7515 section 3.1), with the
// advice of RFC 8725: the key says which algorithm it is for, not the token; "none" is none;
// extensions (crit) are refused; what is signed is read only once its signature is verified.
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

  // Without a look at the time. A token has to have `exp`; the claims that are asked for are what
  // RFC 7519 says, tier and user strings.
  VerifiedToken read(std::string_view text) const;

  // Whether a signature takes more than a hash.
  bool has_public_keys() const;

 private:
  struct Parts;
  std::variant<const config::JwtKey*, TokenFault> key_of(std::string_view head) const;
  VerifiedToken claims_of(std::string_view payload) const;

  config::VisitorJwt settings_;
};

}  // namespace spillway::traffic
