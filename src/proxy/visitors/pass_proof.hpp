// The proof sent with Spillway-Pass to the upstream: a time, and a signature with the key of
// waiting_room.proof_key_file, by which the upstream detects a field that another sender forged.
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

// Large enough for the longest names of a waiting room and a resource.
using PassText = std::array<char, 288>;

// Writes `pass` with its proof to `to`.
std::string_view prove_pass(std::string_view pass, const HmacKey& key, std::chrono::sys_seconds now,
                            PassText& to);

// The value to send to the upstream now: with a proof if the waiting room has a key; empty without
// a pass.
std::string_view told_pass(const RequestContext& request, std::chrono::sys_seconds now,
                           PassText& to);

// The head of a deferred request has the pass from its arrival, without a proof, which would be old
// by now. Adds the proof for this attempt.
void prove_pass_in(std::string& head, const RequestContext& request, std::chrono::sys_seconds now);

}  // namespace spillway::proxy
