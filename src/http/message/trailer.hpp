// Which fields are allowed in a trailer section (RFC 9110 section 6.5.1): a recipient may merge
// trailers into the head, so they must not change its meaning.
#pragma once

#include <string_view>

#include "http/field/identity.hpp"

namespace spillway::http {

// Not in a request: hop-by-hop, protected and identity fields (framing, routing, authentication,
// negotiation, conditions, content format, cookies, ...), fields named in the configuration, and
// aliases of these (identity.hpp).
bool may_be_request_trailer(std::string_view name,
                            const ProtectedFields& protected_fields = kNoFieldsConfigured);

// Not in a response: hop-by-hop and protected fields, fields that control how the response is used
// (Age, Expires, Location, Retry-After), and Spillway's own.
bool may_be_response_trailer(std::string_view name);

}  // namespace spillway::http
