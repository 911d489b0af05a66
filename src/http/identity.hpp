// The fields beyond RFC 9110's by which a request, or a proxy on its way, says who is asking.
// A client must not be able to slip them in late (trailers) or make a proxy drop them.
#pragma once

#include <string_view>

namespace spillway::http {

// X-Forwarded-*, X-Real-IP, X-Request-Id, traceparent, tracestate, X-Api-Key, X-Tenant, X-Priority,
// Spillway-*.
bool says_who_is_asking(std::string_view name);

}  // namespace spillway::http
