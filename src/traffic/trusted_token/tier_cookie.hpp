// A signed cookie with which the site's backend identifies a visitor of a waiting room:
//
//     expires~tier~user~kid~room[~room...]~signature
//
// `expires` is in seconds since 1970, the user in base64url without padding (empty: none); then the
// key's name and the waiting rooms it is valid for; the signature is HMAC-SHA256 of all before the
// last '~', in base64url without padding. The same contents always give the same text.
#pragma once

#include <string_view>

#include "config/trusted_tokens.hpp"
#include "traffic/trusted_token/visitor_claims.hpp"

namespace spillway::traffic {

class TierCookieReader {
 public:
  explicit TierCookieReader(config::TierCookie settings) : settings_(std::move(settings)) {}

  // Does not check the time or the waiting room.
  VerifiedToken read(std::string_view text) const;

 private:
  config::TierCookie settings_;
};

}  // namespace spillway::traffic
