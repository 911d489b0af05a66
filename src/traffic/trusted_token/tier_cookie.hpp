// A cookie by which the site's backend says who a visitor of a waiting room is:
//
//     expires~tier~user~kid~room[~room...]~signature
//
// `expires` in seconds since 1970, the user in base64url without padding (empty: none), the names
// of the key and of the waiting rooms it is for; the signature is HMAC-SHA256 of all before the
// last '~', in base64url without padding. There is one text for the same contents.
#pragma once

#include <string_view>

#include "config/trusted_tokens.hpp"
#include "traffic/trusted_token/visitor_claims.hpp"

namespace spillway::traffic {

class TierCookieReader {
 public:
  explicit TierCookieReader(config::TierCookie settings) : settings_(std::move(settings)) {}

  // Without a look at the time or at the waiting room.
  VerifiedToken read(std::string_view text) const;

 private:
  config::TierCookie settings_;
};

}  // namespace spillway::traffic
