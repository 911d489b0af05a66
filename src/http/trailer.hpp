// Which fields may come after a body (RFC 9110 section 6.5.1). A recipient that merges trailers
// into the head must not be told there what the head alone may say.
#pragma once

#include <string_view>

namespace spillway::http {

// Not in a request: framing, routing, connection, authentication, request modifiers, content
// format, cookies, and the fields by which a proxy or Spillway says who is asking.
bool may_be_request_trailer(std::string_view name);

// Not in a response: framing, connection and content format.
bool may_be_response_trailer(std::string_view name);

}  // namespace spillway::http
