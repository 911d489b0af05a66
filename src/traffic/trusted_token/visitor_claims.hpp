// The claims of a signed token about a visitor of a waiting room, and why a token is invalid.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.hpp"

namespace spillway::traffic {

// Wall-clock time, which issuers of tokens use.
using TokenTime = std::chrono::sys_time<Milliseconds>;

enum class TokenSource : std::uint8_t { none, jwt, cookie };

enum class TokenFault : std::uint8_t {
  malformed,      // not in the syntax of such a token
  repeated,       // there are two: which one does the backend use?
  wrong_alg,      // its algorithm is not that of its key
  unknown_key,    // it names none of the configured keys
  bad_signature,  // it was changed, or signed with another key
  limited,        // not verified: its address sent too many bad_signature tokens
  expired,
  too_early,      // nbf is in the future
  wrong_issuer,   // iss is not the configured one
  wrong_audience  // for another service, or for another waiting room
};
inline constexpr std::size_t kTokenFaultCount = 10;
// The names in metrics.
std::string_view name(TokenFault fault);
std::string_view name(TokenSource source);

// A longer token is malformed.
inline constexpr std::size_t kMostTokenText = 8192;
// A token with a longer user is malformed too.
inline constexpr std::size_t kMostUserBytes = 256;
// How far the issuer's clock may differ from this one.
inline constexpr Milliseconds kClockLeeway{30'000};

// The claims of a token whose signature is valid.
struct TokenClaims {
  std::string tier{};  // empty: none given
  std::string user{};  // likewise
  TokenTime expires{};
  TokenTime not_before{};
  std::vector<std::string> rooms{};  // the waiting rooms it is valid for; empty: all

  // Why the token is not valid here and now; nullopt if it is.
  std::optional<TokenFault> fault_at(std::string_view room, TokenTime now) const {
    if (now >= expires + kClockLeeway) return TokenFault::expired;
    if (now + kClockLeeway < not_before) return TokenFault::too_early;
    if (!rooms.empty() && std::ranges::find(rooms, room) == rooms.end())
      return TokenFault::wrong_audience;
    return std::nullopt;
  }
};

using VerifiedToken = std::variant<TokenClaims, TokenFault>;

// The part of a token's claims that is used.
struct TokenWord {
  TokenSource source = TokenSource::none;
  std::string tier{};
  std::string user{};
};

}  // namespace spillway::traffic
