// Which fields are allowed in a trailer section (RFC 9110 section 6.5.1): a recipient may merge
// trailers into the head, so they must not change its meaning.
#pragma once

#include <string_view>

#include "http/identity.hpp"

namespace spillway::http {

// Not in a request: framing, routing, connection, authentication, request modifiers, content
// format, cookies, identity fields, fields of the configuration, and aliases of these
// (identity.hpp).
bool may_be_request_trailer(std::string_view name,
                            const ProtectedFields& protected_fields = kNoFieldsConfigured);

// Not in a response: framing, connection, content format, and Spillway's own fields.
bool may_be_response_trailer(std::string_view name);

}  // namespace spillway::http
