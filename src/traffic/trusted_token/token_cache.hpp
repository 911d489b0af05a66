// A cache of recently verified tokens, so that a token is verified once and not with each request
// that carries it. One owner (a worker), not thread-safe.
//
// Only valid tokens are kept: a client without a key can neither fill it nor evict valid ones.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/sha256.hpp"
#include "traffic/trusted_token/visitor_claims.hpp"

namespace spillway::traffic {

class TokenCache {
 public:
  static constexpr std::size_t kPlaces = 1024;

  static Sha256 digest_of(TokenSource source, std::string_view text) {
    Sha256 digest = sha256(text);
    digest.back() ^= static_cast<std::uint8_t>(source);
    return digest;
  }

  // The pointer is valid until the next keep().
  const TokenClaims* find(const Sha256& digest) const {
    if (places_.empty()) return nullptr;
    const Place& place = places_[HashOfSha256()(digest) % kPlaces];
    return equal_in_constant_time(place.digest, digest) ? &place.claims : nullptr;
  }
  const TokenClaims& keep(const Sha256& digest, TokenClaims claims) {
    if (places_.empty()) places_.resize(kPlaces);
    Place& place = places_[HashOfSha256()(digest) % kPlaces];
    place = {digest, std::move(claims)};
    return place.claims;
  }

 private:
  struct Place {
    Sha256 digest{};
    TokenClaims claims{};
  };
  std::vector<Place> places_;  // empty before the first token
};

}  // namespace spillway::traffic
