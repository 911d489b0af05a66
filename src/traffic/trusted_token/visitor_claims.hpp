// What a signed token says of a visitor of a waiting room, and why one says nothing.
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

// By the wall clock, as issuers of tokens have it.
using TokenTime = std::chrono::sys_time<Milliseconds>;

enum class TokenSource : std::uint8_t { none, jwt, cookie };

enum class TokenFault : std::uint8_t {
  malformed,      // it is not written as such a token is
  repeated,       // it is there twice: which of them does the backend believe?
  wrong_alg,      // it names another algorithm than its key has
  unknown_key,    // it names none of the keys
  bad_signature,  // it was changed, or made with another key
  limited,        // not verified: too many of its address were bad_signature
  expired,
  too_early,      // nbf is in the future
  wrong_issuer,   // iss is another one
  wrong_audience  // it is for another service, or for another waiting room
};
inline constexpr std::size_t kTokenFaultCount = 10;
// In metrics.
std::string_view name(TokenFault fault);
std::string_view name(TokenSource source);

// A longer one is malformed.
inline constexpr std::size_t kMostTokenText = 8192;
// So is one with a longer user.
inline constexpr std::size_t kMostUserBytes = 256;
// How far the issuer's clock may be from this one.
inline constexpr Milliseconds kClockLeeway{30'000};

// What a token with a good signature says.
struct TokenClaims {
  std::string tier{};  // empty: it says none
  std::string user{};  // likewise
  TokenTime expires{};
  TokenTime not_before{};
  std::vector<std::string> rooms{};  // the waiting rooms it is for; empty: all

  // Why it does not count here and now.
  std::optional<TokenFault> fault_at(std::string_view room, TokenTime now) const {
    if (now >= expires + kClockLeeway) return TokenFault::expired;
    if (now + kClockLeeway < not_before) return TokenFault::too_early;
    if (!rooms.empty() && std::ranges::find(rooms, room) == rooms.end())
      return TokenFault::wrong_audience;
    return std::nullopt;
  }
};

using VerifiedToken = std::variant<TokenClaims, TokenFault>;

// What counts of it.
struct TokenWord {
  TokenSource source = TokenSource::none;
  std::string tier{};
  std::string user{};
};

}  // namespace spillway::traffic
