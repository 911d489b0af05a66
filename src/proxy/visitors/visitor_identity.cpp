#include "proxy/visitors/visitor_identity.hpp"

#include <optional>
#include <utility>
#include <variant>

#include "traffic/trusted_token/token_cache.hpp"
#include "traffic/trusted_token/trusted_tokens.hpp"

namespace spillway::proxy {

namespace {

using traffic::TokenClaims;
using traffic::TokenFault;
using traffic::TrustedTokens;

// Checks the token itself, for its signature: not its time or its room.
traffic::VerifiedToken verify(const RequestContext& request, const TrustedTokens::Carried& token,
                              SharedWaitingRoom& room, TimePoint now) {
  const TrustedTokens& tokens = request.generation->generation().trusted_tokens;
  if (token.fault || !tokens.is_dear(token)) return tokens.verify(token);
  const IpAddress client = client_address(request);
  if (!room.may_verify(client, now)) return TokenFault::limited;
  traffic::VerifiedToken verified = tokens.verify(token);
  const auto* const fault = std::get_if<TokenFault>(&verified);
  if (fault == nullptr || *fault != TokenFault::bad_signature) room.verified(client);
  return verified;
}

// Also checks that the token is valid now and in this room.
std::variant<const TokenClaims*, TokenFault> claims_of(const RequestContext& request,
                                                       const TrustedTokens::Carried& token,
                                                       SharedWaitingRoom& room, TimePoint now) {
  traffic::TokenCache& known = request.generation->verified_tokens;
  // A longer text is rejected without hashing it.
  const bool may_be_known = !token.fault && token.text.size() <= traffic::kMostTokenText;
  const Sha256 digest =
      may_be_known ? traffic::TokenCache::digest_of(token.source, token.text) : Sha256{};
  const TokenClaims* claims = may_be_known ? known.find(digest) : nullptr;
  if (claims == nullptr) {
    traffic::VerifiedToken verified = verify(request, token, room, now);
    if (const auto* const fault = std::get_if<TokenFault>(&verified)) return *fault;
    claims = &known.keep(digest, std::get<TokenClaims>(std::move(verified)));
  }
  if (const auto fault = claims->fault_at(room.name(), room.time_at(now))) return *fault;
  return claims;
}

}  // namespace

traffic::TokenWord token_word(const RequestContext& request, SharedWaitingRoom& room,
                              TimePoint now) {
  const TrustedTokens& tokens = request.generation->generation().trusted_tokens;
  if (tokens.is_empty()) return {};
  for (const traffic::TokenSource source : TrustedTokens::kSources) {
    const auto token = tokens.find(source, request.head.fields);
    if (!token) continue;
    const auto found = claims_of(request, *token, room, now);
    if (const auto* const claims = std::get_if<const TokenClaims*>(&found))
      return {source, (*claims)->tier, (*claims)->user};
    room.tally().count_unverified(source, std::get<TokenFault>(found));
  }
  return {};
}

}  // namespace spillway::proxy
