// The keys of `trusted_headers` and `trusted_tokens`, described as in config/describe/describe.hpp.
#pragma once

#include "config/config.hpp"
#include "config/describe/constraint.hpp"

namespace spillway::config {

template <class Visitor>
void describe(Visitor& visit, TrustedHeaders& x) {
  visit("tenant", x.tenant, kFieldName, "Field that names the tenant, e.g. X-Tenant; empty: none.");
  visit("priority", x.priority, kFieldName,
        "Field with a priority of 0 to priority_max in place of the route's class, e.g. "
        "X-Priority; empty: none.");
  visit("tier", x.tier, kFieldName, "Field with a visitor's tier, e.g. X-Tier; empty: none.");
  visit("user", x.user, kFieldName, "Field with a visitor's user, e.g. X-User; empty: none.");
}

template <class Visitor>
void describe(Visitor& visit, JwtKey& x) {
  visit("kid", x.kid, kKeyId,
        "Which tokens it is for: those with this kid. Empty: of any; then it is the only key.");
  visit(required("algorithm"), x.algorithm, ByType{},
        "How they are signed. What a token says of it has to be the same.");
  visit(required("key_file"), x.key_file, kFileName,
        "HS256: file with the secret, 32 to 4096 bytes, without a line end behind it, readable for "
        "its owner only. Else a public key in PEM, which its owner alone can write. Relative to "
        "the directory of the configuration file.");
}

template <class Visitor>
void describe(Visitor& visit, VisitorJwt& x) {
  visit(required("keys"), x.keys, ListOf<ByType>{{}, 1, 16},
        "The keys of the issuer; several while one takes the place of another.");
  visit("header", x.header, kRequestField,
        "Field with the token; Authorization has it behind Bearer.");
  visit("cookie", x.cookie, kCookieName,
        "Cookie with the token, in place of a field; empty: it is in header.");
  visit("issuer", x.issuer, kMessage, "What the claim iss has to be; empty: anything.");
  visit("audience", x.audience, kMessage,
        "What the claim aud has to be, or to have in its list; empty: anything.");
  visit("tier_claim", x.tier_claim, kClaimName, "Claim with the visitor's tier, a string.");
  visit("user_claim", x.user_claim, kClaimName, "Claim with the visitor's user, a string.");
}

template <class Visitor>
void describe(Visitor& visit, CookieKey& x) {
  visit(required("kid"), x.kid, kName, "What the cookie calls the key.");
  visit(required("key_file"), x.key_file, kFileName,
        "File with 32 bytes, raw or as 64 hexadecimal digits, readable for its owner only; "
        "relative to the directory of the configuration file.");
}

template <class Visitor>
void describe(Visitor& visit, TierCookie& x) {
  visit("name", x.name, kGivenCookieName, "Name of the cookie.");
  visit(required("keys"), x.keys, ListOf<ByType>{{}, 1, 16},
        "The keys of its signature; several while one takes the place of another.");
}

template <class Visitor>
void describe(Visitor& visit, TrustedTokens& x) {
  visit("jwt", x.jwt, ByType{}, "JSON Web Tokens of the site's login; default: none counts.");
  visit("cookie", x.cookie, ByType{},
        "Cookies that the site's backend signs (docs/waiting-room.md); default: none counts.");
}

}  // namespace spillway::config
