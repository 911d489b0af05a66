#include "waiting/token/token_secrets.hpp"

#include <doctest/doctest.h>

#include <string>

#include "unit/waiting/crowd.hpp"
#include "waiting/token/token.hpp"

namespace spillway::waiting {
namespace {

constexpr Time kReplaced = Time(std::chrono::hours(490'000)) + std::chrono::minutes(7);
constexpr Milliseconds kAnnounced{30'000};

HmacKey secret(std::uint8_t first) {
  HmacKey key{};
  key[0] = first;
  return key;
}

std::string text_of(const TokenKeys& keys, const Token& token, Time now) {
  const TokenText text = keys.write(token, "sale", now);
  return {text.data(), text.size()};
}

Token ticket(Time arrival) { return {TokenKind::ticket, id_of(7), 0, arrival, 3}; }

TokenSecrets after(const TokenSecrets& secrets, std::uint8_t first, Replacement how, Time now) {
  const auto next = replaced(secrets, {how, secret(first)}, now, now);
  REQUIRE(next);
  return *next;
}

}  // namespace

TEST_CASE("a replaced secret is accepted for as long as its tokens are, and then no more") {
  const TokenSecrets first = first_secrets(secret(1));
  const TokenKeys before(first);
  const TokenKeys keys(after(first, 2, Replacement::gradual, kReplaced));
  const std::string old = text_of(before, ticket(kReplaced), kReplaced - kTick);
  REQUIRE(keys.read(old, "sale", kReplaced));
  CHECK(*keys.read(old, "sale", kReplaced) == [] {
    Token worn = ticket(kReplaced);
    worn.is_worn = true;  // the next poll has it signed by the new one
    return worn;
  }());
  // Signed by the new one, with the id of it.
  const std::string fresh = text_of(keys, ticket(kReplaced), kReplaced);
  CHECK(fresh != text_of(before, ticket(kReplaced), kReplaced));
  REQUIRE(keys.read(fresh, "sale", kReplaced));
  CHECK_FALSE(keys.read(fresh, "sale", kReplaced)->is_worn);
  CHECK_FALSE(before.read(fresh, "sale", kReplaced));
  // As long as without a replacement: until its half day is two half days ago.
  Time last = kReplaced;
  while (before.read(old, "sale", last)) last += std::chrono::minutes(1);
  CHECK(keys.read(old, "sale", last - std::chrono::minutes(1)));
  // With the old secret tokens can still be made meanwhile, and not after it.
  const Time over = kReplaced + TokenSecrets::kOverlap;
  CHECK(keys.read(text_of(before, ticket(over), over - kTick), "sale", over - kTick));
  CHECK_FALSE(keys.read(text_of(before, ticket(over), over), "sale", over));
}

TEST_CASE("a new secret is accepted before it signs, by proxies that learn of it one by one") {
  const TokenSecrets first = first_secrets(secret(1));
  const auto next =
      replaced(first, {Replacement::gradual, secret(2)}, kReplaced, kReplaced + kAnnounced);
  REQUIRE(next);
  const TokenKeys slow(first), quick(*next);
  const std::string early = text_of(quick, ticket(kReplaced), kReplaced);
  REQUIRE(slow.read(early, "sale", kReplaced));
  CHECK_FALSE(quick.read(early, "sale", kReplaced)->is_worn);
  const Time begins = kReplaced + kAnnounced;
  const std::string late = text_of(quick, ticket(kReplaced), begins);
  CHECK_FALSE(slow.read(late, "sale", begins));
  // A proxy whose clock is behind.
  CHECK(quick.read(late, "sale", kReplaced));
}

TEST_CASE("replaced at once, a secret makes nothing that counts, and a user has another key") {
  const TokenSecrets first = first_secrets(secret(1));
  const TokenKeys before(first);
  const std::string old = text_of(before, ticket(kReplaced), kReplaced);
  const TokenKeys keys(after(first, 2, Replacement::at_once, kReplaced));
  CHECK_FALSE(keys.read(old, "sale", kReplaced));
  CHECK(keys.read(text_of(keys, ticket(kReplaced), kReplaced), "sale", kReplaced));
  CHECK(keys.user_key("sale", 'f', "ann") != before.user_key("sale", 'f', "ann"));
  CHECK(keys.draw_key("sale", kReplaced) != before.draw_key("sale", kReplaced));
  const TokenKeys gradual(after(first, 2, Replacement::gradual, kReplaced));
  CHECK(gradual.user_key("sale", 'f', "ann") == before.user_key("sale", 'f', "ann"));
  CHECK(gradual.draw_key("sale", kReplaced) == before.draw_key("sale", kReplaced));
}

TEST_CASE("while a replaced secret is accepted the next replacement can only be at once") {
  const TokenSecrets first = first_secrets(secret(1));
  const TokenSecrets second = after(first, 2, Replacement::gradual, kReplaced);
  const Time over = second.former_until();
  CHECK_FALSE(replaced(second, {Replacement::gradual, secret(3)}, over - kTick, over));
  const TokenSecrets third = after(second, 3, Replacement::gradual, over);
  CHECK(third.number == 3);
  CHECK(third.former == secret(2));
  const TokenSecrets forced = after(second, 4, Replacement::at_once, kReplaced);
  CHECK_FALSE(forced.former);
  CHECK_FALSE(TokenKeys(forced).read(text_of(TokenKeys(second), ticket(over), kReplaced), "sale",
                                     kReplaced));
}

TEST_CASE("of any two secrets that follow each other, and their keys, no token counts as another") {
  TokenSecrets secrets = first_secrets(secret(1));
  Time now = kReplaced;
  for (std::uint8_t n = 2; n < 12; ++n) {
    const TokenKeys former(secrets);
    secrets = after(secrets, n, Replacement::gradual, now);
    const TokenKeys keys(secrets);
    const std::string old = text_of(former, ticket(now), now - kTick);
    const std::string fresh = text_of(keys, ticket(now), now);
    CHECK(keys.read(old, "sale", now)->is_worn);
    CHECK_FALSE(keys.read(fresh, "sale", now)->is_worn);
    now += TokenSecrets::kOverlap;
  }
}

}  // namespace spillway::waiting
