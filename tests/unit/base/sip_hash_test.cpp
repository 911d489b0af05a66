#include "base/sip_hash.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>

using namespace spillway;

TEST_CASE("SipHash gives the values of its paper") {
  // Appendix A: key 00 01 .. 0f, message 00 01 .. 0e.
  const SipKey key{0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
  std::string message;
  for (char c = 0; c < 15; ++c) message += c;
  CHECK(sip_hash<2, 4>(key, message) == 0xa129ca6149be45e5u);
  // The first of the reference implementation's vectors.
  CHECK(sip_hash<2, 4>(key, "") == 0x726fdb47dd0e0e31u);
}

TEST_CASE("every byte and the length and the key change the hash") {
  const SipKey key{1, 2};
  std::set<std::uint64_t> seen;
  std::size_t hashed = 0;
  for (std::size_t length = 0; length < 40; ++length) {
    std::string text(length, '\0');
    seen.insert(sip_hash(key, text));
    ++hashed;
    for (std::size_t i = 0; i < length; ++i) {
      text[i] = '\x80';
      seen.insert(sip_hash(key, text));
      text[i] = '\0';
      ++hashed;
    }
  }
  CHECK(seen.size() == hashed);
  CHECK(sip_hash({1, 2}, "a") != sip_hash({2, 1}, "a"));
  CHECK(sip_hash({1, 2}, "a") != sip_hash({1, 3}, "a"));
}
