// The signed tokens of a request that say who a visitor of a waiting room is. They are the
// application's own: they are read, and passed on as they came.
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
  // In this order: the first that is verified counts, and alone.
  static constexpr std::array<TokenSource, 2> kSources{TokenSource::jwt, TokenSource::cookie};

  // The keys are read already (config/file/key_files.hpp).
  explicit TrustedTokens(const config::TrustedTokens& settings);

  bool is_empty() const { return !jwt_ && !cookie_; }

  // As it came; `fault` if it is there more than once.
  struct Carried {
    TokenSource source = TokenSource::none;
    std::string_view text{};
    std::optional<TokenFault> fault{};
  };
  // nullopt: the request has none of that source. A field with another scheme than Bearer is none.
  std::optional<Carried> find(TokenSource source, const http::FieldList& fields) const;

  VerifiedToken verify(const Carried& token) const;
  // Whether that may take long: a signature by a public key.
  bool is_dear(const Carried& token) const {
    return token.source == TokenSource::jwt && jwt_->has_public_keys();
  }

 private:
  std::optional<JwtReader> jwt_;
  std::optional<TierCookieReader> cookie_;
  std::string jwt_header_;  // where they are; empty: in a cookie
  std::string jwt_cookie_;
  std::string tier_cookie_;
};

}  // namespace spillway::traffic
