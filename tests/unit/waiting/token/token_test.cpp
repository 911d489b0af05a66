#include "waiting/token/token.hpp"

#include <doctest/doctest.h>

#include <string>

#include "unit/waiting/crowd.hpp"

namespace spillway::waiting {
namespace {

HmacKey secret(std::uint8_t first) {
  HmacKey key{};
  key[0] = first;
  return key;
}

const TokenKeys kKeys(secret(1));
const Time kNow = Time(std::chrono::hours(490'000)) + Milliseconds(123);

Token a_pass() {
  Token token{TokenKind::pass, {}, 0x01020304, kNow - std::chrono::minutes(5), 0};
  for (std::size_t n = 0; n < token.id.bytes.size(); ++n)
    token.id.bytes[n] = static_cast<std::uint8_t>(0xf0 + n);
  return token;
}

std::string text_of(const Token& token, std::string_view room = "sale", Time now = kNow) {
  const TokenText text = kKeys.write(token, room, now);
  return {text.data(), text.size()};
}

}  // namespace

TEST_CASE("a token says what was written") {
  for (const TokenKind kind :
       {TokenKind::stamp, TokenKind::ticket, TokenKind::pass, TokenKind::offer}) {
    Token token = a_pass();
    token.kind = kind;
    if (kind != TokenKind::pass) {
      token.generation = 0;
      token.priority = 200;
    }
    const std::string text = text_of(token);
    CHECK(text[0] == static_cast<char>(kind));
    REQUIRE(kKeys.read(text, "sale", kNow));
    CHECK(*kKeys.read(text, "sale", kNow) == token);
  }
}

TEST_CASE("a first pass says its tier, and a later one does not") {
  Token stamp = a_pass();
  stamp.kind = TokenKind::stamp;
  stamp.generation = 0;
  for (const int priority : {0, 1, 255}) {
    stamp.priority = static_cast<Priority>(priority);
    for (const std::uint32_t generation : {0U, 1U, 1000U}) {
      Token pass = pass_of(stamp, generation, kNow);
      for (const Carrier carrier : {Carrier::cookie, Carrier::field}) {
        pass.carrier = carrier;
        const auto read = kKeys.read(text_of(pass), "sale", kNow);
        REQUIRE(read);
        CHECK(*read == pass);
        CHECK(read->priority == (generation == 0 ? stamp.priority : 0));
      }
    }
  }
}

TEST_CASE("a ticket that a former key signed is to be signed anew, before its time is over") {
  Token ticket = a_pass();
  ticket.kind = TokenKind::ticket;
  ticket.generation = 0;
  ticket.priority = 7;
  const Time signed_at = kNow;
  Time now = signed_at;
  std::string carried = text_of(ticket);
  const std::string first = carried;
  // It asks every five hours, for a week.
  for (; now < signed_at + std::chrono::hours(7 * 24); now += std::chrono::hours(5)) {
    const auto read = kKeys.read(carried, "sale", now);
    REQUIRE(read);
    if (const auto renewal = renewal_of(*read)) {
      CHECK(*renewal == ticket);
      carried = text_of(*renewal, "sale", now);
    }
  }
  CHECK(kKeys.read(carried, "sale", now));
  CHECK_FALSE(kKeys.read(first, "sale", now));  // the control
  CHECK_FALSE(renewal_of(ticket));
}

TEST_CASE("a token counts in its waiting room, under its secret, unchanged") {
  const std::string text = text_of(a_pass());
  CHECK_FALSE(kKeys.read(text, "sale2", kNow));
  CHECK_FALSE(kKeys.read(text, "sal", kNow));
  CHECK_FALSE(kKeys.read(text, "", kNow));
  CHECK_FALSE(TokenKeys(secret(2)).read(text, "sale", kNow));
  CHECK_FALSE(kKeys.read("", "sale", kNow));
  CHECK_FALSE(kKeys.read(text + "A", "sale", kNow));
  CHECK_FALSE(kKeys.read(text.substr(0, text.size() - 1), "sale", kNow));
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'A', 'B', 's', 't', 'p', '-', '\0', '='}) {
      std::string changed = text;
      changed[at] = c;
      if (changed == text) continue;
      INFO(at << ' ' << c);
      CHECK_FALSE(kKeys.read(changed, "sale", kNow));
    }
  }
}

TEST_CASE("a token says whether it was given in a field, and nobody can change that") {
  for (const TokenKind kind : {TokenKind::stamp, TokenKind::ticket, TokenKind::pass}) {
    Token token = a_pass();
    token.kind = kind;
    if (kind != TokenKind::pass) token.generation = 0;
    const std::string in_cookie = text_of(token);
    token.carrier = Carrier::field;
    const std::string in_field = text_of(token);
    REQUIRE(kKeys.read(in_field, "sale", kNow));
    CHECK(*kKeys.read(in_field, "sale", kNow) == token);
    CHECK(kKeys.read(in_cookie, "sale", kNow)->carrier == Carrier::cookie);
    // All but the signature of one with that of the other.
    const std::size_t signature = 22;
    CHECK_FALSE(kKeys.read(in_field.substr(0, in_field.size() - signature) +
                               in_cookie.substr(in_cookie.size() - signature),
                           "sale", kNow));
    CHECK(ticket_of(token, kNow).carrier == Carrier::field);
    CHECK(pass_of(token, 1, kNow).carrier == Carrier::field);
  }
}

TEST_CASE("a token says whose it is, and a verified user is one in each room and of each source") {
  const UserKey ann = kKeys.user_key("sale", 'f', "ann");
  for (const TokenKind kind : {TokenKind::stamp, TokenKind::ticket, TokenKind::pass}) {
    Token token = a_pass();
    token.kind = kind;
    if (kind != TokenKind::pass) token.generation = 0;
    token.user = ann;
    const std::string text = text_of(token);
    CHECK(text.size() == token_text(true, false));
    REQUIRE(kKeys.read(text, "sale", kNow));
    CHECK(*kKeys.read(text, "sale", kNow) == token);
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string changed = text;
      changed[at] = changed[at] == 'A' ? 'B' : 'A';
      CHECK_FALSE(kKeys.read(changed, "sale", kNow));
    }
    CHECK_FALSE(kKeys.read(text.substr(0, kTokenText), "sale", kNow));
  }
  CHECK(text_of(a_pass()).size() == kTokenText);
  CHECK_FALSE(ann.is_nobody());
  CHECK(ann == kKeys.user_key("sale", 'f', "ann"));
  CHECK(ann != kKeys.user_key("sale", 'f', "bob"));
  CHECK(ann != kKeys.user_key("sale", 'k', "ann"));
  CHECK(ann != kKeys.user_key("sale2", 'f', "ann"));
  CHECK(ann != TokenKeys(secret(2)).user_key("sale", 'f', "ann"));
}

TEST_CASE("a stamp and a ticket say what their visitor asks for, and nobody can change it") {
  CarriedWish wish{.fingerprint = 0x01020304, .wish = {.type = 3}};
  for (std::size_t n = 0; n < kMostSizes; ++n)
    wish.wish.sizes[n] = 0xf0000000U + static_cast<std::uint32_t>(n);
  wish.wish.duration_ms = 3'600'000;
  wish.wish.max_wait_ms = 60'000;
  for (const UserKey& user : {UserKey{}, kKeys.user_key("sale", 'f', "ann")}) {
    Token token = a_pass();
    token.kind = TokenKind::ticket;
    token.generation = 0;
    token.user = user;
    token.wish = wish;
    const std::string text = text_of(token);
    CHECK(text.size() == token_text(!user.is_nobody(), true));
    REQUIRE(kKeys.read(text, "sale", kNow));
    CHECK(*kKeys.read(text, "sale", kNow) == token);
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string changed = text;
      changed[at] = changed[at] == 'A' ? 'B' : 'A';
      CHECK_FALSE(kKeys.read(changed, "sale", kNow));
    }
    for (const auto& [has_user, has_wish] : {std::pair{false, false}, {true, false}})
      CHECK_FALSE(kKeys.read(text.substr(0, token_text(has_user, has_wish)), "sale", kNow));
  }
}

TEST_CASE("a token is void when its key has been replaced for a day") {
  const std::string text = text_of(a_pass());
  CHECK(kKeys.read(text, "sale", kNow + std::chrono::hours(24)));
  CHECK_FALSE(kKeys.read(text, "sale", kNow + std::chrono::hours(36)));
  CHECK_FALSE(kKeys.read(text, "sale", kNow + std::chrono::hours(12 * 256 + 36)));
  // Of the future: a clock that was set back. The number of its key is none of the former ones.
  CHECK_FALSE(kKeys.read(text, "sale", kNow - std::chrono::hours(24)));
  // As many keys later as there are numbers, the number is the same and the key another.
  CHECK_FALSE(kKeys.read(text, "sale", kNow + std::chrono::hours(12 * 256)));
}

TEST_CASE(
    "a ticket is signed anew before a cookie that keeps it for as long as it counts is over") {
  const TokenKeys keys(HmacKey{});
  const Milliseconds use = TokenKeys::kKeyUse;
  for (const Milliseconds after : {Milliseconds(1000), use / 2, use - Milliseconds(1000)}) {
    const Time begin = Time(use * 40'000);
    const Time written = begin + after;
    const TokenText text = keys.write({TokenKind::ticket, id_of(1), 0, written}, "sale", written);
    const auto read = [&](Time at) { return keys.read({text.data(), text.size()}, "sale", at); };
    // From then on it is signed anew, by a poll, within less than a minute.
    const Time worn = begin + 2 * use;
    REQUIRE_FALSE(read(worn - kTick)->is_worn);
    REQUIRE(read(worn)->is_worn);
    CHECK(worn + Milliseconds(60'000) < written + TokenKeys::kAccepted);
    CHECK(read(worn + use - kTick));
    CHECK_FALSE(read(written + TokenKeys::kAccepted));
  }
}

TEST_CASE("an offer is of its stamp, and does not read as it, nor says whose it is") {
  Token stamp = a_pass();
  stamp.kind = TokenKind::stamp;
  stamp.generation = 0;
  stamp.priority = 3;
  stamp.user = kKeys.user_key("sale", 'f', "ann");
  const Token offer = offer_of(stamp);
  CHECK(offer.id == stamp.id);
  CHECK(offer.user.is_nobody());
  std::string text = text_of(offer);
  CHECK(text[0] == 'o');
  CHECK(kKeys.read(text, "sale", kNow) == offer);
  for (const char kind : {'s', 't', 'p'}) {
    text[0] = kind;
    CHECK_FALSE(kKeys.read(text, "sale", kNow));
  }
}

}  // namespace spillway::waiting
