// Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07), and what it is stored as.
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
  std::optional<std::string> key;  // unescaped; nullopt: there is none
  bool is_invalid = false;         // there is one that is empty, too long, not a text, or two
};

// A String of RFC 8941, or a token, which most clients send: 1 to 255 visible characters.
ReadKey read_idempotency_key(const http::FieldList& fields);

// Whose keys they are: of the tenant, and of all credentials that came with the request. Which of
// them the upstream goes by is not known here, so all count: a client with other credentials is
// another principal, and is never told of this one's jobs.
std::string principal_of(std::string_view tenant, const http::FieldList& fields);
// The same where `by` says which fields and cookies the upstream goes by. `is_verified`: the tenant
// is, by an API key or a trusted peer. A request of another one that has nothing of what is named
// goes by its credentials: an address is no user.
std::string principal_of(std::string_view tenant, bool is_verified, const http::FieldList& fields,
                         const config::IdempotencyPrincipal& by);

// Of a principal on a route. The parts are told apart whatever is in them.
Digest scope_of(std::string_view route, std::string_view principal, std::string_view key);

// Of the request that came with it.
Digest fingerprint_of(std::string_view method, std::string_view target,
                      std::string_view content_type, std::string_view body);

}  // namespace spillway::jobs
