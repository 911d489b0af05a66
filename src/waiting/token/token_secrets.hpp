// The secrets of visitors' tokens: one signs, and after its replacement the former one is still
// accepted, so that no visitor loses its place. After a leak both can be replaced at once.
#pragma once

#include <cstdint>
#include <optional>

#include "base/hmac.hpp"
#include "base/time.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

struct TokenSecrets {
  // No token is accepted for longer than this: TokenKeys::kAccepted.
  static constexpr Milliseconds kOverlap = std::chrono::hours(36);

  std::uint32_t number = 1;       // of the newest; a token names the one that signed it
  HmacKey newest{};               // accepted at once
  Time since{};                   // the newest secret signs from then on
  std::optional<HmacKey> former;  // signs until then, and is accepted for kOverlap more
  // For users' keys and draws. A gradual replacement keeps it, so that a user with a place gets no
  // second one, and a draw keeps its order.
  HmacKey lasting{};

  Time former_until() const { return since + kOverlap; }
  bool accepts_former(Time now) const { return former && now < former_until(); }

  bool operator==(const TokenSecrets&) const = default;
};

inline TokenSecrets first_secrets(const HmacKey& secret) {
  return {.newest = secret, .former = {}, .lasting = secret};
}

// After the end of the former one's acceptance.
inline TokenSecrets without_former(TokenSecrets secrets) {
  secrets.former.reset();
  return secrets;
}

enum class Replacement : std::uint8_t {
  gradual,  // the former secret is accepted as long as a token of it may be needed
  at_once   // no earlier token is valid any more
};

struct SecretChange {
  Replacement how = Replacement::gradual;
  HmacKey secret{};  // random
};

// `since`: the new secret signs from then on. nullopt: the last replacement is still under way, and
// a third secret would invalidate the tokens of the first.
inline std::optional<TokenSecrets> replaced(const TokenSecrets& secrets, const SecretChange& change,
                                            Time now, Time since) {
  if (change.how == Replacement::at_once)
    return TokenSecrets{secrets.number + 1, change.secret, now, {}, change.secret};
  if (secrets.accepts_former(now)) return std::nullopt;
  return TokenSecrets{secrets.number + 1, change.secret, since, secrets.newest, secrets.lasting};
}

}  // namespace spillway::waiting
