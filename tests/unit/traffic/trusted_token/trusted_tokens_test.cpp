// Where a request's tokens are, and that one which is there twice is none.
#include "traffic/trusted_token/trusted_tokens.hpp"

#include <doctest/doctest.h>

#include <string>

#include "http/message/head.hpp"
#include "traffic/trusted_token/token_cache.hpp"

namespace spillway::traffic {
namespace {

config::TrustedTokens both() {
  config::TrustedTokens settings;
  settings.jwt.emplace().keys.emplace_back().secret = std::string(32, 's');
  settings.cookie.emplace().keys.push_back({"a", "", HmacKey{}});
  return settings;
}

// The text; "-" without a token, "repeated" with more than one.
std::string found(const config::TrustedTokens& settings, TokenSource source,
                  const std::string& fields) {
  const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
  http::RequestHead head;
  REQUIRE(http::parse_request(text, head) == http::Error::none);
  const auto token = TrustedTokens(settings).find(source, head.fields);
  if (!token) return "-";
  CHECK(token->source == source);
  return token->fault ? std::string(name(*token->fault)) : std::string(token->text);
}

}  // namespace

TEST_CASE("a JWT is behind Bearer, once") {
  const auto in = [](const std::string& fields) { return found(both(), TokenSource::jwt, fields); };
  CHECK(in("") == "-");
  CHECK(in("Authorization: Bearer a.b.c\r\n") == "a.b.c");
  CHECK(in("authorization: bearer   a.b.c\r\n") == "a.b.c");
  CHECK(in("Authorization: Basic YTpi\r\n") == "-");
  CHECK(in("Authorization: a.b.c\r\n") == "-");
  CHECK(in("Authorization: Bearer\r\n") == "-");
  CHECK(in("Authorization: Bearer a.b.c, Bearer d.e.f\r\n") == "a.b.c, Bearer d.e.f");
  CHECK(in("Authorization: Bearer a.b.c\r\nAuthorization: Bearer a.b.c\r\n") == "repeated");
  CHECK(in("Authorization: Basic YTpi\r\nAuthorization: Bearer a.b.c\r\n") == "repeated");
  CHECK(in("X-Authorization: Bearer a.b.c\r\nCookie: Authorization=a.b.c\r\n") == "-");
}

TEST_CASE(
    "a JWT may be in a field or a cookie of the operator's choice, and is then nowhere else") {
  config::TrustedTokens settings = both();
  settings.jwt->header = "X-Login";
  CHECK(found(settings, TokenSource::jwt, "x-login: a.b.c\r\n") == "a.b.c");
  CHECK(found(settings, TokenSource::jwt, "X-Login: Bearer a.b.c\r\n") == "a.b.c");
  CHECK(found(settings, TokenSource::jwt, "Authorization: Bearer a.b.c\r\n") == "-");
  settings.jwt->cookie = "session";
  CHECK(found(settings, TokenSource::jwt, "Cookie: a=1; session=a.b.c; b=2\r\n") == "a.b.c");
  CHECK(found(settings, TokenSource::jwt, "X-Login: a.b.c\r\n") == "-");
  CHECK(found(settings, TokenSource::jwt, "Cookie: session=a\r\nCookie: session=a\r\n") ==
        "repeated");
}

TEST_CASE("a signed cookie is known by its name, once") {
  const auto in = [](const std::string& fields) {
    return found(both(), TokenSource::cookie, fields);
  };
  CHECK(in("") == "-");
  CHECK(in("Cookie: tier=x~y\r\n") == "x~y");
  CHECK(in("Cookie: a=1;tier=x;b=2\r\n") == "x");
  CHECK(in("Cookie: Tier=x; tier; xtier=x; tierx=x\r\n") == "-");
  CHECK(in("Cookie: tier=\r\n") == "");
  CHECK(in("Cookie: tier=x; tier=y\r\n") == "repeated");
  CHECK(in("Cookie: tier=x; tier =y\r\n") == "repeated");
  CHECK(in("Cookie: tier=x\r\nA: b\r\nCookie: tier=x\r\n") == "repeated");
}

TEST_CASE("nothing is believed unless it is configured") {
  const std::string fields = "Authorization: Bearer a.b.c\r\nCookie: tier=x\r\n";
  CHECK(TrustedTokens({}).is_empty());
  CHECK(found({}, TokenSource::jwt, fields) == "-");
  CHECK(found({}, TokenSource::cookie, fields) == "-");
  config::TrustedTokens settings = both();
  settings.jwt.reset();
  CHECK(found(settings, TokenSource::jwt, fields) == "-");
  CHECK(found(settings, TokenSource::cookie, fields) == "x");
}

TEST_CASE("a key that was not read verifies nothing, not even with an empty secret") {
  config::TrustedTokens settings = both();
  settings.jwt->keys[0].secret.clear();
  settings.cookie->keys[0].key.reset();
  const TrustedTokens tokens(settings);
  // {"alg":"HS256"} and {"exp":1800000100}, signed with the empty secret.
  const std::string empty =
      "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4MDAwMDAxMDB9.rOwdgZMkLzNURjmZeSXGz30aqm2efiARIjWbSMW4Qx8";
  CHECK(std::get<TokenFault>(tokens.verify({TokenSource::jwt, empty, {}})) ==
        TokenFault::bad_signature);
  const std::string cookie = "1800000100~vip~~a~sale~" + std::string(43, 'A');
  CHECK(std::get<TokenFault>(tokens.verify({TokenSource::cookie, cookie, {}})) ==
        TokenFault::unknown_key);
}

TEST_CASE("a verified token is found again by its text and source, until another has its place") {
  TokenCache cache;
  const Sha256 digest = TokenCache::digest_of(TokenSource::jwt, "a.b.c");
  CHECK(cache.find(digest) == nullptr);
  CHECK(cache.find(Sha256{}) == nullptr);
  cache.keep(digest, {.tier = "vip"});
  REQUIRE(cache.find(digest) != nullptr);
  CHECK(cache.find(digest)->tier == "vip");
  CHECK(cache.find(TokenCache::digest_of(TokenSource::jwt, "a.b.d")) == nullptr);
  CHECK(cache.find(TokenCache::digest_of(TokenSource::cookie, "a.b.c")) == nullptr);
  Sha256 neighbour = digest;  // of the same place
  neighbour[31] ^= 8;
  CHECK(cache.find(neighbour) == nullptr);
  cache.keep(neighbour, {.tier = "premium"});
  CHECK(cache.find(neighbour)->tier == "premium");
  CHECK(cache.find(digest) == nullptr);
}

}  // namespace spillway::traffic
