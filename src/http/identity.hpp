// Identity fields: those that identify the client or the request and are not in RFC 9110. A client
// must not be able to add them as trailers or make a proxy drop them by naming them in Connection.
#pragma once

#include <string_view>

namespace spillway::http {

// X-Forwarded-*, X-Real-IP, X-Request-Id, traceparent, tracestate, X-Api-Key, X-Tenant, X-Priority,
// Spillway-*.
bool is_identity_field(std::string_view name);

}  // namespace spillway::http
