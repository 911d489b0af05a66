// The proof of work that a place requires while waiting_room.challenge is on, as in Hashcash: a
// nonce such that SHA-256 of prefix and nonce begins with `work_bits` zero bits. It takes 2^bits
// hashes on average to find, and one to verify.
//
// The prefix is the id of a stamp, which the proxy drew and signed: work is good for that stamp
// alone, cannot be done before the stamp is issued, and makes one ticket at a time, with the same
// id. The signed text itself is in a cookie that no script may read. Nothing is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/sha256.hpp"
#include "base/time.hpp"
#include "config/waiting_room.hpp"
#include "waiting/token/token.hpp"

namespace spillway::waiting {

// How long a stamp may be turned into a ticket if work is required: a slow phone takes minutes.
// After kStampLife the time at which the place is taken decides the place.
inline constexpr Milliseconds kWorkLife{300'000};
// Prefix and nonce are one block of SHA-256 (FIPS 180-4 section 5.1.1).
inline constexpr std::size_t kMostNonce = 16;  // decimal digits

struct Challenge {
  std::uint32_t work_bits = 0;
  TicketId id;  // of the stamp

  std::string prefix() const { return to_text(id) + ":"; }
};

// Whether a place for that stamp requires work: not if a user, or a tier above the lowest, is
// verified.
bool takes_work(const config::WaitingRoom& settings, const Token& stamp);

enum class Work : std::uint8_t { done, missing, wrong };
inline constexpr std::size_t kWorkCount = 3;
// Name in metrics.
std::string_view name(Work work);

// `nonce`: any bytes, as the client sent them; empty: it sent none.
Work check_work(const Challenge& challenge, std::string_view nonce);

// The number of leading zero bits.
unsigned zero_bits(const Sha256& digest);

}  // namespace spillway::waiting
