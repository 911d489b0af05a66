// Which fields are allowed in a trailer section (RFC 9110 section 6.5.1): a recipient may merge
// trailers into the head, so they must not change its meaning.
#pragma once

#include <string_view>

namespace spillway::http {

// Not in a request: framing, routing, connection, authentication, request modifiers, content
// format, cookies, and identity fields (identity.hpp).
bool may_be_request_trailer(std::string_view name);

// Not in a response: framing, connection and content format.
bool may_be_response_trailer(std::string_view name);

}  // namespace spillway::http
