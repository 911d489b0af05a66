#include "traffic/trusted_token/tier_cookie.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "base/base64.hpp"

namespace spillway::traffic {
namespace {

HmacKey filled(std::uint8_t byte) {
  HmacKey key;
  key.fill(byte);
  return key;
}

config::TierCookie settings() { return {"tier", {{"a", "", filled(1)}, {"b.2", "", filled(2)}}}; }

std::string base64url(std::string_view bytes) {
  std::string text(base64url_size(bytes.size()), '\0');
  write_base64url({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, text.data());
  return text;
}

std::string signed_text(const std::string& text, std::uint8_t key = 1) {
  const Sha256 code = hmac_sha256(filled(key), text);
  return text + "~" + base64url({reinterpret_cast<const char*>(code.data()), code.size()});
}

// "tier user", or why it does not count.
std::string told(const std::string& text, std::string_view room = "sale",
                 std::int64_t now = 1'800'000'000) {
  const VerifiedToken read = TierCookieReader(settings()).read(text);
  if (const auto* const fault = std::get_if<TokenFault>(&read)) return std::string(name(*fault));
  const TokenClaims& claims = std::get<TokenClaims>(read);
  const auto fault = claims.fault_at(room, TokenTime(std::chrono::seconds(now)));
  return fault ? std::string(name(*fault)) : claims.tier + " " + claims.user;
}

const std::string kText = "1800000100~premium~YW5uQGV4YW1wbGUuY29t~a~sale";
const std::string kGood = "premium ann@example.com";

}  // namespace

TEST_CASE("a cookie that the backend has signed says tier and user in the rooms it names") {
  const std::string one = signed_text(kText), two = signed_text(kText + "~tour.2027");
  CHECK(told(one) == kGood);
  CHECK(told(one, "tour.2027") == "wrong_audience");
  CHECK(told(two) == kGood);
  CHECK(told(two, "tour.2027") == kGood);
  CHECK(told(two, "tour") == "wrong_audience");
  CHECK(told(signed_text("1800000100~vip~~a~sale")) == "vip ");
  CHECK(told(signed_text("1800000100~vip~~b.2~sale", 2)) == "vip ");
}

TEST_CASE("a cookie ends with its time, give or take half a minute") {
  const std::string one = signed_text(kText);
  CHECK(told(one, "sale", 1'800'000'129) == kGood);
  CHECK(told(one, "sale", 1'800'000'130) == "expired");
  CHECK(told(one, "sale", 4'000'000'000) == "expired");
}

TEST_CASE("a cookie that was changed, or signed by another key, does not count") {
  const std::string good = signed_text(kText);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CAPTURE(changed);
    CHECK(told(changed) != kGood);
  }
  CHECK(told(signed_text(kText, 2)) == "bad_signature");
  CHECK(told("1800000100~enterprise~YW5uQGV4YW1wbGUuY29t~a~sale" + good.substr(kText.size())) ==
        "bad_signature");
  CHECK(told(kText + "~tour" + good.substr(kText.size())) == "bad_signature");
  CHECK(told(signed_text("1800000100~premium~~c~sale")) == "unknown_key");
  CHECK(told(signed_text("1800000100~premium~~~sale")) == "unknown_key");
  CHECK(told(signed_text("1800000100~premium~~A~sale")) == "unknown_key");
}

TEST_CASE("a cookie that is not written as one is malformed, also if it is signed") {
  const std::string good = signed_text(kText);
  for (const std::string& text :
       {std::string(),
        std::string("~"),
        std::string("~~~~~"),
        good.substr(0, kText.size()),
        good.substr(0, good.size() - 1),
        good + "A",
        good + "=",
        good + "~",
        " " + good,
        good + " ",
        "\"" + good + "\"",
        signed_text(""),
        signed_text("1800000100"),
        signed_text("1800000100~premium~~a"),
        signed_text("~premium~~a~sale"),
        signed_text("-1~premium~~a~sale"),
        signed_text("01800000100~premium~~a~sale"),
        signed_text(kText + "~"),
        signed_text("+1800000100~premium~~a~sale"),
        signed_text("1800000100.5~premium~~a~sale"),
        signed_text("180000010000~premium~~a~sale"),
        signed_text("1800000100~~~a~sale"),
        signed_text("1800000100~pre mium~~a~sale"),
        signed_text("1800000100~premium~ann@example.com~a~sale"),
        signed_text("1800000100~premium~YR~a~sale"),
        signed_text("1800000100~premium~YQ==~a~sale"),
        signed_text("1800000100~premium~" + base64url(std::string(257, 'u')) + "~a~sale"),
        signed_text(kText + "~" + std::string(9000, 'r'))}) {
    CAPTURE(text);
    CHECK(told(text) == "malformed");
  }
  CHECK(told(signed_text("1800000100~premium~" + base64url(std::string(256, 'u')) + "~a~sale")) ==
        "premium " + std::string(256, 'u'));
}

}  // namespace spillway::traffic
