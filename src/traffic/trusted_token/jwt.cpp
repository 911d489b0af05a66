#include "traffic/trusted_token/jwt.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/base64.hpp"
#include "base/hmac.hpp"
#include "config/choices.hpp"
#include "traffic/trusted_token/json_members.hpp"

namespace spillway::traffic {

namespace {

using Kind = JsonMember::Kind;

// A later time is a mistake: milliseconds, for instance.
constexpr double kLatest = 1e11;

std::optional<std::string> decoded(std::string_view part) {
  std::string bytes(base64url_bytes(part.size()), '\0');
  if (!read_base64url(part, {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()}))
    return std::nullopt;
  return bytes;
}

// NumericDate (RFC 7519 section 2): seconds, possibly with a fraction.
std::optional<TokenTime> time_of(const JsonMember& claim) {
  const bool is_time = claim.kind == Kind::number && claim.number >= 0 && claim.number <= kLatest;
  if (!is_time) return std::nullopt;
  return TokenTime(Milliseconds(std::llround(claim.number * 1000)));
}

bool is_text_or_absent(const JsonMember& claim) {
  return claim.kind == Kind::absent || claim.kind == Kind::text;
}

bool has_signed(const config::JwtKey& key, std::string_view text,
                std::span<const std::uint8_t> signature) {
  if (key.public_key) return key.public_key->has_signed(text, signature);
  Sha256 sent{};
  if (key.secret.empty() || signature.size() != sent.size()) return false;
  std::ranges::copy(signature, sent.begin());
  const std::span secret(reinterpret_cast<const std::uint8_t*>(key.secret.data()),
                         key.secret.size());
  return equal_in_constant_time(sent, hmac_sha256(secret, text));
}

}  // namespace

bool JwtReader::has_public_keys() const {
  return std::ranges::any_of(settings_.keys, [](const config::JwtKey& key) {
    return key.algorithm != config::JwtAlgorithm::hs256;
  });
}

// The header is parsed before anything is verified, since it names the key to use.
std::variant<const config::JwtKey*, TokenFault> JwtReader::key_of(std::string_view head) const {
  std::array<JsonMember, 3> members{{{"alg"}, {"kid"}, {"crit"}}};
  const auto& [alg, kid, crit] = members;
  if (!read_members(head, members) || alg.kind != Kind::text || !is_text_or_absent(kid) ||
      crit.kind != Kind::absent)
    return TokenFault::malformed;
  const auto has_alg = [&alg = alg](const config::JwtKey& key) {
    return config::name(key.algorithm) == alg.text();
  };
  if (std::ranges::none_of(settings_.keys, has_alg)) return TokenFault::wrong_alg;
  const auto found = std::ranges::find_if(settings_.keys, [&kid = kid](const config::JwtKey& key) {
    return key.kid.empty() || (kid.kind == Kind::text && key.kid == kid.text());
  });
  if (found == settings_.keys.end()) return TokenFault::unknown_key;
  if (!has_alg(*found)) return TokenFault::wrong_alg;
  return &*found;
}

VerifiedToken JwtReader::read(std::string_view text) const {
  if (text.size() > kMostTokenText || std::ranges::count(text, '.') != 2)
    return TokenFault::malformed;
  const std::size_t head_end = text.find('.');
  const std::size_t signed_end = text.rfind('.');
  const std::string_view signature = text.substr(signed_end + 1);
  std::array<std::uint8_t, kMostSignatureBytes> room;
  if (base64url_bytes(signature.size()) > room.size()) return TokenFault::malformed;
  const std::span sent = std::span(room).first(base64url_bytes(signature.size()));
  const auto head = decoded(text.substr(0, head_end));
  const auto payload = decoded(text.substr(head_end + 1, signed_end - head_end - 1));
  if (!head || !payload || !read_base64url(signature, sent)) return TokenFault::malformed;
  const auto key = key_of(*head);
  if (const auto* const fault = std::get_if<TokenFault>(&key)) return *fault;
  if (!has_signed(*std::get<const config::JwtKey*>(key), text.substr(0, signed_end), sent))
    return TokenFault::bad_signature;
  return claims_of(*payload);
}

VerifiedToken JwtReader::claims_of(std::string_view payload) const {
  std::array<JsonMember, 6> members{
      {{"exp"}, {"nbf"}, {"iss"}, {"aud"}, {settings_.tier_claim}, {settings_.user_claim}}};
  if (!read_members(payload, members)) return TokenFault::malformed;
  // Two of these names may be equal: then the first such member was filled.
  const auto claim = [&members](std::string_view name) -> const JsonMember& {
    return *std::ranges::find(members, name, &JsonMember::name);
  };
  const JsonMember& tier = claim(settings_.tier_claim);
  const JsonMember& user = claim(settings_.user_claim);
  const auto expires = time_of(claim("exp"));
  const auto not_before = time_of(claim("nbf"));
  if (!expires || (!not_before && claim("nbf").kind != Kind::absent)) return TokenFault::malformed;
  if (!is_text_or_absent(tier) || !is_text_or_absent(user) || user.text().size() > kMostUserBytes)
    return TokenFault::malformed;
  if (!settings_.issuer.empty() && claim("iss").text() != settings_.issuer)
    return TokenFault::wrong_issuer;
  if (!settings_.audience.empty() &&
      std::ranges::find(claim("aud").texts, settings_.audience) == claim("aud").texts.end())
    return TokenFault::wrong_audience;
  return TokenClaims{std::string(tier.text()),
                     std::string(user.text()),
                     *expires,
                     not_before.value_or(TokenTime{}),
                     {}};
}

}  // namespace spillway::traffic
