// Tokens of issuers that are not our own code: libjwt for all that it knows, with OpenSSL; and by
// hand what no issuer makes.
#include "traffic/trusted_token/jwt.hpp"

#include <doctest/doctest.h>
#include <jwt.h>
#include <nettle/eddsa.h>

#include <array>
#include <string>
#include <vector>

#include "base/base64.hpp"
#include "base/hmac.hpp"
#include "support/signing_keys.hpp"

namespace spillway::traffic {
namespace {

using config::JwtAlgorithm;
using namespace support;

const std::string kSecret(40, 's');
constexpr std::int64_t kNow = 1'800'000'000;
const std::string kClaims = R"({"sub":"ann@example.com","tier":"premium","exp":1800000100})";

config::JwtKey key_of(JwtAlgorithm algorithm, const std::string& text,
                      const std::string& kid = {}) {
  config::JwtKey key{
      .kid = kid, .algorithm = algorithm, .key_file = "", .secret = "", .public_key = {}};
  if (algorithm == JwtAlgorithm::hs256)
    key.secret = text;
  else
    key.public_key = read_public_key(text).key;
  return key;
}

config::VisitorJwt with_secret() {
  config::VisitorJwt settings;
  settings.keys = {key_of(JwtAlgorithm::hs256, kSecret)};
  return settings;
}

config::VisitorJwt with_key(JwtAlgorithm algorithm, const std::string& pem) {
  config::VisitorJwt settings;
  settings.keys = {key_of(algorithm, pem)};
  return settings;
}

std::string base64url(const std::string& bytes) {
  std::string text(base64url_size(bytes.size()), '\0');
  write_base64url({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, text.data());
  return text;
}

std::string signed_with(const std::string& secret, const std::string& head,
                        const std::string& payload) {
  const std::string text = base64url(head) + "." + base64url(payload);
  const Sha256 code =
      hmac_sha256({reinterpret_cast<const std::uint8_t*>(secret.data()), secret.size()}, text);
  return text + "." + base64url({code.begin(), code.end()});
}

const std::string kHead = R"({"alg":"HS256","typ":"JWT"})";
std::string token(const std::string& payload, const std::string& head = kHead) {
  return signed_with(kSecret, head, payload);
}

// As libjwt makes it.
std::string issued(jwt_alg_t algorithm, const std::string& key, const std::string& claims = kClaims,
                   const std::string& head = "{}") {
  jwt_t* jwt = nullptr;
  REQUIRE(::jwt_new(&jwt) == 0);
  REQUIRE(::jwt_add_grants_json(jwt, claims.c_str()) == 0);
  REQUIRE(::jwt_add_headers_json(jwt, head.c_str()) == 0);
  REQUIRE(::jwt_set_alg(jwt, algorithm, reinterpret_cast<const unsigned char*>(key.data()),
                        static_cast<int>(key.size())) == 0);
  char* const text = ::jwt_encode_str(jwt);
  REQUIRE(text != nullptr);
  const std::string all = text;
  ::free(text);
  ::jwt_free(jwt);
  return all;
}

// What comes of a token: "tier user", or why it does not count now.
std::string told(const config::VisitorJwt& settings, const std::string& text,
                 std::int64_t now = kNow) {
  const VerifiedToken read = JwtReader(settings).read(text);
  if (const auto* const fault = std::get_if<TokenFault>(&read)) return std::string(name(*fault));
  const TokenClaims& claims = std::get<TokenClaims>(read);
  const auto fault = claims.fault_at("sale", TokenTime(std::chrono::seconds(now)));
  return fault ? std::string(name(*fault)) : claims.tier + " " + claims.user;
}
std::string told(const std::string& text) { return told(with_secret(), text); }

const std::string kGood = "premium ann@example.com";

}  // namespace

TEST_CASE("tokens of another implementation count, by each algorithm") {
  CHECK(told(with_secret(), issued(JWT_ALG_HS256, kSecret)) == kGood);
  CHECK(told(with_key(JwtAlgorithm::rs256, kRsaPublic), issued(JWT_ALG_RS256, kRsaPrivate)) ==
        kGood);
  CHECK(told(with_key(JwtAlgorithm::es256, kP256Public), issued(JWT_ALG_ES256, kP256Private)) ==
        kGood);
  CHECK(token(kClaims) != issued(JWT_ALG_HS256, kSecret));  // the order of members is its own
  CHECK(told(token(kClaims)) == kGood);
}

TEST_CASE("a token signed with Ed25519 counts, and libjwt's of another algorithm do not") {
  std::array<std::uint8_t, 32> secret{}, key{};
  for (std::size_t n = 0; n < secret.size(); ++n)
    secret[n] = static_cast<std::uint8_t>(std::stoul(kEd25519Secret.substr(2 * n, 2), nullptr, 16));
  ::ed25519_sha512_public_key(key.data(), secret.data());
  const std::string text = base64url(R"({"alg":"EdDSA"})") + "." + base64url(kClaims);
  std::string signature(64, '\0');
  ::ed25519_sha512_sign(key.data(), secret.data(), text.size(),
                        reinterpret_cast<const std::uint8_t*>(text.data()),
                        reinterpret_cast<std::uint8_t*>(signature.data()));
  const auto settings = with_key(JwtAlgorithm::eddsa, kEd25519Public);
  CHECK(told(settings, text + "." + base64url(signature)) == kGood);
  signature[63] ^= 1;
  CHECK(told(settings, text + "." + base64url(signature)) == "bad_signature");
  CHECK(told(settings, issued(JWT_ALG_RS256, kRsaPrivate)) == "wrong_alg");
}

TEST_CASE("the algorithm is the key's, whatever the token says") {
  const auto rsa = with_key(JwtAlgorithm::rs256, kRsaPublic);
  // The public key taken for a secret. libjwt, which goes by the token, accepts this.
  const std::string confused = issued(JWT_ALG_HS256, kRsaPublic);
  jwt_t* jwt = nullptr;
  CHECK(::jwt_decode(&jwt, confused.c_str(),
                     reinterpret_cast<const unsigned char*>(kRsaPublic.data()),
                     static_cast<int>(kRsaPublic.size())) == 0);
  ::jwt_free(jwt);
  CHECK(told(rsa, confused) == "wrong_alg");
  const std::string payload = base64url(kClaims);
  for (const char* const alg : {"none", "None", "NONE", "nOnE", "", "HS256 ", "hs256", "HS384",
                                "HS512", "RS256", "ES256", "PS256", "EdDSA"}) {
    CAPTURE(alg);
    const std::string head = R"({"alg":")" + std::string(alg) + "\"}";
    CHECK(told(base64url(head) + "." + payload + ".") == "wrong_alg");
    CHECK(told(token(kClaims, head)) == "wrong_alg");
  }
  CHECK(told(token(kClaims, "{}")) == "malformed");
  CHECK(told(token(kClaims, R"({"alg":["HS256"]})")) == "malformed");
  CHECK(told(token(kClaims, R"({"alg":"none","alg":"HS256"})")) == "malformed");
  CHECK(told(token(kClaims, R"({"alg":"HS256","alg":"none"})")) == "malformed");
  // With keys of two algorithms each has its own.
  config::VisitorJwt both = rsa;
  both.keys[0].kid = "r";
  both.keys.push_back(key_of(JwtAlgorithm::hs256, kSecret, "h"));
  CHECK(told(both, token(kClaims, R"({"alg":"HS256","kid":"h"})")) == kGood);
  CHECK(told(both, issued(JWT_ALG_RS256, kRsaPrivate, kClaims, R"({"kid":"r"})")) == kGood);
  CHECK(told(both, signed_with(kRsaPublic, R"({"alg":"HS256","kid":"r"})", kClaims)) ==
        "wrong_alg");
}

TEST_CASE("a token names its key, and one that names none is of none of several") {
  config::VisitorJwt settings;
  settings.keys = {key_of(JwtAlgorithm::hs256, kSecret, "old"),
                   key_of(JwtAlgorithm::hs256, std::string(32, 'n'), "new")};
  const auto with_kid = [](const std::string& secret, const std::string& kid) {
    return signed_with(secret, R"({"alg":"HS256","kid":)" + kid + "}", kClaims);
  };
  CHECK(told(settings, with_kid(kSecret, "\"old\"")) == kGood);
  CHECK(told(settings, with_kid(std::string(32, 'n'), "\"new\"")) == kGood);
  CHECK(told(settings, with_kid(kSecret, "\"new\"")) == "bad_signature");
  CHECK(told(settings, with_kid(kSecret, "\"older\"")) == "unknown_key");
  CHECK(told(settings, with_kid(kSecret, "\"\"")) == "unknown_key");
  CHECK(told(settings, with_kid(kSecret, "7")) == "malformed");
  CHECK(told(settings, token(kClaims)) == "unknown_key");
  // The only key without an id is that of all.
  CHECK(told(with_kid(kSecret, "\"anything\"")) == kGood);
}

TEST_CASE("with any bit changed a token does not count") {
  const std::string good = token(kClaims);
  REQUIRE(told(good) == kGood);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CAPTURE(changed);
    CHECK(told(changed) != kGood);
  }
  CHECK(told(good.substr(0, good.size() - 1)) == "malformed");
  CHECK(told(base64url(kHead) + "." +
             base64url(R"({"sub":"bob","tier":"enterprise","exp":1800000100})") +
             good.substr(good.rfind('.'))) == "bad_signature");
  CHECK(told(signed_with(std::string(40, 't'), kHead, kClaims)) == "bad_signature");
}

TEST_CASE("what is not written as a token is malformed") {
  const std::string good = token(kClaims);
  const std::size_t first = good.find('.'), last = good.rfind('.');
  for (const std::string& text : {std::string(),
                                  std::string("."),
                                  std::string(".."),
                                  std::string("..."),
                                  good.substr(first),
                                  good.substr(0, last),
                                  good + ".",
                                  good + ".x",
                                  "." + good,
                                  good + "=",
                                  good + " ",
                                  " " + good,
                                  good.substr(0, first) + "=" + good.substr(first),
                                  good.substr(0, 4) + "\n" + good.substr(4),
                                  good.substr(0, 4) + "+" + good.substr(5),
                                  "a" + good,
                                  token("[]"),
                                  token(""),
                                  token("7"),
                                  token("null"),
                                  token("\"x\""),
                                  token("{"),
                                  token(kClaims + " x"),
                                  token("\xff"),
                                  token(R"({"exp":1800000100,"tier":"\ud800"})"),
                                  token(kClaims, "[]"),
                                  token(kClaims, ""),
                                  token(kClaims, R"({"alg":"HS256","crit":["b64"],"b64":false})"),
                                  token(kClaims, R"({"alg":"HS256","crit":[]})")}) {
    CAPTURE(text);
    CHECK(told(text) == "malformed");
  }
  CHECK(told(good.substr(0, last + 1)) == "bad_signature");
  CHECK(told(good.substr(0, first) + ".." + good.substr(last + 1)) == "bad_signature");
  CHECK(told(token(R"({"exp":1800000100,"tier":"vip","x":")" + std::string(3000, 'x') + "\"}")) ==
        "vip ");
  CHECK(told(token(R"({"exp":1800000100,"tier":"vip","x":")" + std::string(8000, 'x') + "\"}")) ==
        "malformed");
  const auto nested = [](std::size_t depth) {
    return token(R"({"exp":1800000100,"tier":"vip","x":)" + std::string(depth, '[') +
                 std::string(depth, ']') + "}");
  };
  CHECK(told(nested(15)) == "vip ");
  CHECK(told(nested(16)) == "malformed");
  CHECK(told(nested(2900)) == "malformed");
}

TEST_CASE("a token counts from nbf until exp, give or take half a minute") {
  const std::string timed = token(R"({"sub":"ann","nbf":1800000000,"exp":1800000100.5})");
  const auto at = [&](std::int64_t now) { return told(with_secret(), timed, now); };
  CHECK(at(1'799'999'969) == "too_early");
  CHECK(at(1'799'999'970) == " ann");
  CHECK(at(1'800'000'100) == " ann");
  CHECK(at(1'800'000'130) == " ann");
  CHECK(at(1'800'000'131) == "expired");
  CHECK(at(4'000'000'000) == "expired");
  for (const char* const times : {R"("tier":"vip")", R"("exp":"1800000100")", R"("exp":null)",
                                  R"("exp":-1)", R"("exp":1800000100000)", R"("exp":1e400)",
                                  R"("exp":[1800000100])", R"("exp":1800000100,"exp":1)",
                                  R"("exp":1800000100,"nbf":"0")", R"("exp":{"exp":1800000100})"}) {
    CAPTURE(times);
    CHECK(told(token("{" + std::string(times) + "}")) == "malformed");
  }
}

TEST_CASE("issuer and audience are compared where they are configured") {
  config::VisitorJwt settings = with_secret();
  settings.issuer = "https://login.example";
  settings.audience = "shop";
  const auto of = [&](const std::string& more) {
    return told(settings, token(R"({"sub":"ann","exp":1800000100)" + more + "}"));
  };
  const std::string issuer = R"(,"iss":"https://login.example")";
  CHECK(of(issuer + R"(,"aud":"shop")") == " ann");
  CHECK(of(issuer + R"(,"aud":["app","shop"])") == " ann");
  CHECK(of(issuer) == "wrong_audience");
  CHECK(of(issuer + R"(,"aud":"shop2")") == "wrong_audience");
  CHECK(of(issuer + R"(,"aud":[])") == "wrong_audience");
  CHECK(of(issuer + R"(,"aud":{"shop":"shop"})") == "wrong_audience");
  CHECK(of(R"(,"aud":"shop")") == "wrong_issuer");
  CHECK(of(R"(,"iss":"https://login.example/","aud":"shop")") == "wrong_issuer");
  CHECK(of(R"(,"iss":["https://login.example"],"aud":"shop")") == "wrong_issuer");
  CHECK(of(issuer + issuer + R"(,"aud":"shop")") == "malformed");
  // Without them anything goes, as long as the signature is good.
  CHECK(told(token(R"({"sub":"ann","exp":1800000100,"iss":"x","aud":7})")) == " ann");
}

TEST_CASE("tier and user are in the claims that are configured") {
  config::VisitorJwt settings = with_secret();
  settings.tier_claim = "https://shop.example/tier";
  settings.user_claim = "email";
  const auto of = [&](const std::string& more) {
    return told(settings, token(R"({"sub":"ann","tier":"vip","exp":1800000100)" + more + "}"));
  };
  CHECK(of("") == " ");
  CHECK(of(R"(,"https://shop.example/tier":"premium","email":"a@b")") == "premium a@b");
  CHECK(of(R"(,"x":{"email":"a@b"})") == " ");
  CHECK(of(R"(,"x":[{"email":"a@b"}])") == " ");
  CHECK(of(R"(,"email":7)") == "malformed");
  CHECK(of(R"(,"email":["a@b"])") == "malformed");
  CHECK(of(R"(,"https://shop.example/tier":["premium"])") == "malformed");
  CHECK(of(R"(,"email":"a","email":"b")") == "malformed");
  CHECK(of(R"(,"email":")" + std::string(256, 'u') + "\"") == " " + std::string(256, 'u'));
  CHECK(of(R"(,"email":")" + std::string(257, 'u') + "\"") == "malformed");
  settings.tier_claim = settings.user_claim = "sub";
  CHECK(of("") == "ann ann");
}

}  // namespace spillway::traffic
