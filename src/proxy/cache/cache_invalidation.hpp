// Invalidates stored responses that an unsafe request has made obsolete (RFC 9111 section 4.4).
#pragma once

#include "http/message/head.hpp"
#include "proxy/request/context/request_context.hpp"

namespace spillway::proxy {

// Call it with the response's head. Does nothing for a safe method or an error status.
void invalidate_changed(const RequestContext& request, const http::ResponseHead& response);

}  // namespace spillway::proxy
