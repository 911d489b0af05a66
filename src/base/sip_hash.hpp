// SipHash: a keyed hash for input that clients choose; without the key they cannot find collisions
// (Aumasson, Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace spillway {

struct SipKey {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

// SipHash-c-d on a little-endian machine; on others the values differ, which does not matter for
// tables in memory. The paper proposes 2-4; 1-3 is the faster variant for hash tables.
template <int kCompressions, int kFinalisations>
std::uint64_t sip_hash(SipKey key, std::string_view text) {
  std::uint64_t a = key.low ^ 0x736f6d6570736575u;
  std::uint64_t b = key.high ^ 0x646f72616e646f6du;
  std::uint64_t c = key.low ^ 0x6c7967656e657261u;
  std::uint64_t d = key.high ^ 0x7465646279746573u;
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      a += b;
      c += d;
      b = std::rotl(b, 13) ^ a;
      d = std::rotl(d, 16) ^ c;
      a = std::rotl(a, 32);
      c += b;
      a += d;
      b = std::rotl(b, 17) ^ c;
      d = std::rotl(d, 21) ^ a;
      c = std::rotl(c, 32);
    }
  };
  const auto take = [&](std::uint64_t word) {
    d ^= word;
    rounds(kCompressions);
    a ^= word;
  };
  std::size_t at = 0;
  for (; text.size() - at >= 8; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    take(word);
  }
  std::uint64_t last = static_cast<std::uint64_t>(text.size()) << 56;
  for (std::size_t i = 0; at + i < text.size(); ++i) {
    last |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
  }
  take(last);
  c ^= 0xff;
  rounds(kFinalisations);
  return a ^ b ^ c ^ d;
}

inline std::uint64_t sip_hash(SipKey key, std::string_view text) {
  return sip_hash<1, 3>(key, text);
}

}  // namespace spillway
