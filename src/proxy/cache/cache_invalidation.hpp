// Invalidates the stored responses of what an unsafe request has changed (RFC 9111 section 4.4).
#pragma once

#include "http/message/head.hpp"
#include "proxy/request/context/request_context.hpp"

namespace spillway::proxy {

// With the response's head. Does nothing for a safe method, or a status that is an error.
void invalidate_changed(const RequestContext& request, const http::ResponseHead& response);

}  // namespace spillway::proxy
