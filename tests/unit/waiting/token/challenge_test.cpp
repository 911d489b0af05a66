#include "waiting/token/challenge.hpp"

#include <doctest/doctest.h>

#include <string>

#include "waiting/terms/configured.hpp"

using namespace spillway;
using namespace spillway::waiting;

namespace {

TicketId ticket(std::uint8_t first) {
  TicketId id;
  id.bytes.fill(0x5a);
  id.bytes[0] = first;
  return id;
}

// Bit by bit, as the rule has it.
unsigned leading_zeros(const Sha256& digest) {
  unsigned n = 0;
  while (n < 256 && (digest[n / 8] >> (7 - n % 8) & 1) == 0) ++n;
  return n;
}

// The first nonce of exactly so many zero bits.
std::string nonce_of(const TicketId& id, unsigned bits) {
  for (int n = 0;; ++n) {
    const std::string nonce = std::to_string(n);
    if (leading_zeros(sha256(to_text(id) + ":" + nonce)) == bits) return nonce;
  }
}

config::WaitingRoom room_of(std::uint32_t bits) {
  config::WaitingRoom room;
  room.tickets.challenge.work_bits = bits;
  return room;
}

}  // namespace

TEST_CASE("zero bits are counted over the borders of bytes") {
  CHECK(zero_bits(Sha256{}) == 256);
  for (unsigned n = 0; n < 256; ++n) {
    Sha256 digest{};
    digest[n / 8] = static_cast<std::uint8_t>(0x80U >> (n % 8));
    CHECK(zero_bits(digest) == n);
    digest.back() |= 1;  // what comes after the first one does not count
    CHECK(zero_bits(digest) == n);
  }
}

TEST_CASE("a nonce is enough for as many bits as its hash has, and not for one more") {
  const TicketId id = ticket(1);
  for (const unsigned bits : {0U, 1U, 6U, 7U, 8U, 9U, 12U}) {
    CAPTURE(bits);
    const std::string nonce = nonce_of(id, bits);
    if (bits > 0) CHECK(check_work({bits, id}, nonce) == Work::done);
    if (bits > 1) CHECK(check_work({bits - 1, id}, nonce) == Work::done);
    CHECK(check_work({bits + 1, id}, nonce) == Work::wrong);
  }
}

TEST_CASE("work for one stamp is none for another") {
  const std::string nonce = nonce_of(ticket(1), 12);
  CHECK(check_work({12, ticket(1)}, nonce) == Work::done);
  for (std::uint8_t other = 2; other < 40; ++other)
    CHECK(check_work({12, ticket(other)}, nonce) == Work::wrong);
}

TEST_CASE("a nonce is up to 16 decimal digits and nothing else") {
  const TicketId id = ticket(1);
  CHECK(check_work({1, id}, "") == Work::missing);
  // Each of them hashes to enough zero bits, for which it is refused all the same.
  const auto refused = [&id](const std::string& head, std::size_t digits) {
    for (int n = 0;; ++n) {
      std::string nonce = std::to_string(n);
      nonce = head + std::string(digits > nonce.size() ? digits - nonce.size() : 0, '0') + nonce;
      if (zero_bits(sha256(to_text(id) + ":" + nonce)) < 4) continue;
      return check_work({4, id}, nonce);
    }
  };
  CHECK(refused("", 16) == Work::done);  // the control
  CHECK(refused("", 17) == Work::wrong);
  CHECK(refused("", 4000) == Work::wrong);
  for (const std::string head : {"-", "+", " ", "0x", "a", "1.", "\xff"})
    CHECK(refused(head, 0) == Work::wrong);
  CHECK(refused(std::string(1, '\0'), 0) == Work::wrong);
}

TEST_CASE("prefix and longest nonce are one block of SHA-256") {
  const std::string prefix = Challenge{1, ticket(1)}.prefix();
  CHECK(prefix == to_text(ticket(1)) + ":");
  CHECK(prefix.size() + kMostNonce <= 55);
}

TEST_CASE("a verified user or a verified tier needs no work, and with 0 bits no visitor does") {
  const Token stamp{TokenKind::stamp, ticket(1)};
  CHECK(takes_work(room_of(1), stamp));
  CHECK_FALSE(takes_work(room_of(0), stamp));
  Token user = stamp;
  user.user.bytes[15] = 1;
  CHECK_FALSE(takes_work(room_of(24), user));
  Token vip = stamp;
  vip.priority = priority_of(room_of(24), "vip");
  CHECK_FALSE(takes_work(room_of(24), vip));
  // The lowest tier is that of whom nothing is said, whatever its number.
  config::WaitingRoom room = room_of(24);
  room.tiers = {{"low", 3}, {"high", 7}};
  Token low = stamp;
  low.priority = priority_of(room, "low");
  CHECK(takes_work(room, low));
  low.priority = priority_of(room, "high");
  CHECK_FALSE(takes_work(room, low));
}
