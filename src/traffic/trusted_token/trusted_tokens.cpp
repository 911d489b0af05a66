#include "traffic/trusted_token/trusted_tokens.hpp"

#include <algorithm>

#include "http/field/ascii.hpp"
#include "http/field/cookie.hpp"

namespace spillway::traffic {

namespace {

using Carried = TrustedTokens::Carried;

constexpr std::string_view kBearer = "Bearer ";

std::optional<Carried> in_cookie(TokenSource source, const http::FieldList& fields,
                                 std::string_view name) {
  const http::FoundCookie found = http::find_cookie(fields, name);
  if (found.count == 0) return std::nullopt;
  if (found.count > 1) return Carried{source, {}, TokenFault::repeated};
  return Carried{source, found.value, {}};
}

// RFC 6750 section 2.1; a field that the operator chose may contain only the token.
std::optional<Carried> in_field(const http::FieldList& fields, std::string_view name) {
  const auto count = std::ranges::count_if(
      fields, [name](const http::Field& field) { return http::iequals(field.name, name); });
  if (count == 0) return std::nullopt;
  if (count > 1) return Carried{TokenSource::jwt, {}, TokenFault::repeated};
  std::string_view text = fields.find(name)->value;
  if (http::istarts_with(text, kBearer))
    text = http::trim(text.substr(kBearer.size()));
  else if (http::iequals(name, "Authorization"))
    return std::nullopt;
  return Carried{TokenSource::jwt, text, {}};
}

}  // namespace

std::string_view name(TokenFault fault) {
  constexpr std::array<std::string_view, kTokenFaultCount> kNames{
      "malformed", "repeated", "wrong_alg", "unknown_key",  "bad_signature",
      "limited",   "expired",  "too_early", "wrong_issuer", "wrong_audience"};
  return kNames[static_cast<std::size_t>(fault)];
}

std::string_view name(TokenSource source) {
  constexpr std::array<std::string_view, 3> kNames{"none", "jwt", "cookie"};
  return kNames[static_cast<std::size_t>(source)];
}

TrustedTokens::TrustedTokens(const config::TrustedTokens& settings) {
  if (settings.jwt) {
    jwt_.emplace(*settings.jwt);
    jwt_cookie_ = settings.jwt->cookie;
    if (jwt_cookie_.empty()) jwt_header_ = settings.jwt->header;
  }
  if (settings.cookie) {
    cookie_.emplace(*settings.cookie);
    tier_cookie_ = settings.cookie->name;
  }
}

std::optional<Carried> TrustedTokens::find(TokenSource source,
                                           const http::FieldList& fields) const {
  if (source == TokenSource::jwt && jwt_)
    return jwt_cookie_.empty() ? in_field(fields, jwt_header_)
                               : in_cookie(source, fields, jwt_cookie_);
  if (source == TokenSource::cookie && cookie_) return in_cookie(source, fields, tier_cookie_);
  return std::nullopt;
}

VerifiedToken TrustedTokens::verify(const Carried& token) const {
  if (token.fault) return *token.fault;
  return token.source == TokenSource::jwt ? jwt_->read(token.text) : cookie_->read(token.text);
}

}  // namespace spillway::traffic
