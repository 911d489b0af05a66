// Any text as a token by which a visitor says who it is: as it came; signed, as its issuer would
// have done; and as a public key.
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/base64.hpp"
#include "base/hmac.hpp"
#include "base/public_key.hpp"
#include "fuzz/claim.hpp"
#include "fuzz/options.hpp"
#include "fuzz/targets.hpp"
#include "traffic/trusted_token/jwt.hpp"
#include "traffic/trusted_token/tier_cookie.hpp"

namespace spillway::fuzz {
namespace {

using traffic::TokenClaims;
using traffic::TokenFault;
using traffic::VerifiedToken;

const std::string kSecret(32, 's');
const HmacKey kKey{1, 2, 3};

std::string base64url(std::string_view bytes) {
  std::string text(base64url_size(bytes.size()), '\0');
  write_base64url({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, text.data());
  return text;
}

template <class Secret>
std::string signature_of(std::string_view text, const Secret& secret) {
  const Sha256 code =
      hmac_sha256({reinterpret_cast<const std::uint8_t*>(secret.data()), secret.size()}, text);
  return base64url({reinterpret_cast<const char*>(code.data()), code.size()});
}

VerifiedToken read_jwt(const std::string& text) {
  config::VisitorJwt settings;
  settings.keys.emplace_back().secret = kSecret;
  return traffic::JwtReader(settings).read(text);
}

VerifiedToken read_cookie(const std::string& text) {
  return traffic::TierCookieReader({"tier", {{"a", "", kKey}}}).read(text);
}

void require_refused(const VerifiedToken& token) {
  require(std::holds_alternative<TokenFault>(token), "nobody signs without the key");
}

// A JSON parser that builds a tree of it all says the same.
void check_payload(std::string_view payload) {
  const std::string text = base64url(R"({"alg":"HS256"})") + "." + base64url(payload);
  const VerifiedToken read = read_jwt(text + "." + signature_of(text, kSecret));
  if (const auto* const fault = std::get_if<TokenFault>(&read)) {
    require(*fault == TokenFault::malformed, "what was signed has a good signature");
    return;
  }
  const TokenClaims& claims = std::get<TokenClaims>(read);
  const auto tree = nlohmann::json::parse(payload, nullptr, false);
  require(tree.is_object() && tree.contains("exp"), "only an object with a time counts");
  require(tree.value("tier", std::string()) == claims.tier, "the tier is the tree's", claims.tier);
  require(tree.value("sub", std::string()) == claims.user, "the user is the tree's", claims.user);
  const double seconds = tree.at("exp").get<double>();
  const auto milliseconds = static_cast<double>(claims.expires.time_since_epoch().count());
  require(std::abs(milliseconds - seconds * 1000) <= 1, "the time is the tree's");
}

// There is one text for what a cookie says.
void check_cookie(std::string_view text) {
  const VerifiedToken read =
      read_cookie(std::string(text).append("~").append(signature_of(text, kKey)));
  const auto* const claims = std::get_if<TokenClaims>(&read);
  if (claims == nullptr) return;
  const auto seconds = claims->expires.time_since_epoch().count() / 1000;
  std::string again =
      std::to_string(seconds) + "~" + claims->tier + "~" + base64url(claims->user) + "~a";
  for (const std::string& room : claims->rooms) again += "~" + room;
  require(again == text, "there is one text for it", again);
}

void check_public_key(std::string_view pem) {
  const ReadPublicKey read = read_public_key(pem);
  require(read.key.has_value() == read.problem.empty(), "there is a key or a problem");
  if (!read.key) return;
  const std::vector<std::uint8_t> signature(256, 1);
  for (const std::size_t size : {0, 64, 256})
    require(!read.key->has_signed("text", std::span(signature).first(size)), "that is none of its");
}

}  // namespace

void visitor_token(std::string_view input) {
  Options options(input);
  const unsigned kind = options.byte();
  const std::string text(options.rest());
  switch (kind % 5) {
    case 0: return require_refused(read_jwt(text));
    case 1: return check_payload(text);
    case 2: return require_refused(read_cookie(text));
    case 3: return check_cookie(text);
    default: return check_public_key(text);
  }
}

}  // namespace spillway::fuzz
