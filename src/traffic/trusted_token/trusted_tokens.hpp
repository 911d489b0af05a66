// The signed tokens of a request that identify a visitor of a waiting room. They belong to the
// application: they are read, and forwarded unchanged.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "http/field/field_list.hpp"
#include "traffic/trusted_token/jwt.hpp"
#include "traffic/trusted_token/tier_cookie.hpp"
#include "traffic/trusted_token/visitor_claims.hpp"

namespace spillway::traffic {

class TrustedTokens {
 public:
  // Tried in this order: only the first source with a valid token counts.
  static constexpr std::array<TokenSource, 2> kSources{TokenSource::jwt, TokenSource::cookie};

  // The keys must have been read before (config/file/key_files.hpp).
  explicit TrustedTokens(const config::TrustedTokens& settings);

  bool is_empty() const { return !jwt_ && !cookie_; }

  // A token as received; `fault` if there is more than one.
  struct Carried {
    TokenSource source = TokenSource::none;
    std::string_view text{};
    std::optional<TokenFault> fault{};
  };
  // nullopt: the request has none from that source. A scheme other than Bearer counts as none.
  std::optional<Carried> find(TokenSource source, const http::FieldList& fields) const;

  VerifiedToken verify(const Carried& token) const;
  // Whether verifying it may take long: a public-key signature.
  bool is_dear(const Carried& token) const {
    return token.source == TokenSource::jwt && jwt_->has_public_keys();
  }

 private:
  std::optional<JwtReader> jwt_;
  std::optional<TierCookieReader> cookie_;
  std::string jwt_header_;  // the field with JWTs; empty: they are in a cookie
  std::string jwt_cookie_;
  std::string tier_cookie_;
};

}  // namespace spillway::traffic
