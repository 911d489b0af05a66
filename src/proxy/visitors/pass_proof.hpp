// The proof with which Spillway-Pass goes to the upstream: when it was sent, and a signature by
// waiting_room.proof_key_file, so that the upstream can tell it from what another sender makes up.
//
//     room=sale; id=<32 hexadecimal digits>; at=<seconds since 1970>; sig=<base64url>
//     room=lab; id=…; resource=<name>; at=…; sig=…
//
// The signature is HMAC-SHA256 of the text before "; sig=", in base64url without padding.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "base/hmac.hpp"
#include "proxy/request/context/request_context.hpp"

namespace spillway::proxy {

// Has room for the longest names of a waiting room and a resource.
using PassText = std::array<char, 288>;

// `pass` with its proof, in `to`.
std::string_view prove_pass(std::string_view pass, const HmacKey& key, std::chrono::sys_seconds now,
                            PassText& to);

// What the upstream is told now: with a proof where the waiting room has a key; empty without a
// pass.
std::string_view told_pass(const RequestContext& request, std::chrono::sys_seconds now,
                           PassText& to);

// The head of a deferred request has the pass as of when it came in, without a proof: that would be
// old by now. Adds the one of this attempt.
void prove_pass_in(std::string& head, const RequestContext& request, std::chrono::sys_seconds now);

}  // namespace spillway::proxy
