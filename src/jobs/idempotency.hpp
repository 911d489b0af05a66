// Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07), and how it is stored.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/defer.hpp"
#include "http/field/field_list.hpp"
#include "jobs/job.hpp"

namespace spillway::jobs {

inline constexpr std::string_view kIdempotencyKey = "Idempotency-Key";

struct ReadKey {
  std::optional<std::string> key;  // unescaped; nullopt: none was sent
  bool is_invalid = false;         // one was sent that is empty, too long, not a text, or two
};

// A String of RFC 8941, or a token, as most clients send: 1 to 255 visible characters.
ReadKey read_idempotency_key(const http::FieldList& fields);

// The principal, the owner of keys: the tenant together with all credentials of the request. It is
// unknown here which of these the upstream uses, so all count: a client with other credentials is
// another principal, and never gets information about this one's jobs.
std::string principal_of(std::string_view tenant, const http::FieldList& fields);
// The same if `by` gives the fields and cookies that the upstream uses. `is_verified`: the tenant
// is verified, by an API key or a trusted peer. If it is not, and the request has none of these
// fields and cookies, all its credentials count: an address does not identify a user.
std::string principal_of(std::string_view tenant, bool is_verified, const http::FieldList& fields,
                         const config::IdempotencyPrincipal& by);

// For a principal on a route. The parts remain distinct, whatever they contain.
Digest scope_of(std::string_view route, std::string_view principal, std::string_view key);

// Of the request sent with the key.
Digest fingerprint_of(std::string_view method, std::string_view target,
                      std::string_view content_type, std::string_view body);

}  // namespace spillway::jobs
