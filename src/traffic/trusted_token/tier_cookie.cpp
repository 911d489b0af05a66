#include "traffic/trusted_token/tier_cookie.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

#include "base/base64.hpp"
#include "base/hmac.hpp"
#include "config/format.hpp"

namespace spillway::traffic {

namespace {

constexpr char kBetween = '~';
constexpr std::size_t kMostDigits = 11;  // of `expires` in seconds: enough until the year 5138

// Removes and returns the text before the next '~' (and the '~'); the whole rest if there is none.
std::string_view take(std::string_view& rest) {
  const std::size_t end = rest.find(kBetween);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

std::optional<TokenTime> time_of(std::string_view digits) {
  std::int64_t seconds = 0;
  const char* const end = digits.data() + digits.size();
  const bool is_number = !digits.empty() && digits.front() >= '1' && digits.front() <= '9';
  if (!is_number || digits.size() > kMostDigits) return std::nullopt;
  const auto [stop, error] = std::from_chars(digits.data(), end, seconds);
  if (error != std::errc() || stop != end) return std::nullopt;
  return TokenTime(std::chrono::seconds(seconds));
}

std::optional<std::string> user_of(std::string_view text) {
  std::string user(base64url_bytes(text.size()), '\0');
  if (user.size() > kMostUserBytes ||
      !read_base64url(text, {reinterpret_cast<std::uint8_t*>(user.data()), user.size()}))
    return std::nullopt;
  return user;
}

}  // namespace

VerifiedToken TierCookieReader::read(std::string_view text) const {
  const std::size_t signed_end = text.rfind(kBetween);
  if (text.size() > kMostTokenText || signed_end == std::string_view::npos)
    return TokenFault::malformed;
  const std::string_view signed_text = text.substr(0, signed_end);
  Sha256 sent;
  if (!read_base64url(text.substr(signed_end + 1), sent)) return TokenFault::malformed;
  std::string_view rest = signed_text;
  const auto expires = time_of(take(rest));
  const std::string_view tier = take(rest);
  const auto user = user_of(take(rest));
  const std::string_view kid = take(rest);
  const bool has_rooms = !rest.empty() && rest.back() != kBetween;
  if (!expires || !user || !config::is_name(tier) || !has_rooms) return TokenFault::malformed;
  const auto key = std::ranges::find(settings_.keys, kid, &config::CookieKey::kid);
  if (key == settings_.keys.end() || !key->key) return TokenFault::unknown_key;
  if (!equal_in_constant_time(sent, hmac_sha256(*key->key, signed_text)))
    return TokenFault::bad_signature;
  TokenClaims claims{std::string(tier), *user, *expires, {}, {}};
  while (!rest.empty()) claims.rooms.emplace_back(take(rest));
  return claims;
}

}  // namespace spillway::traffic
