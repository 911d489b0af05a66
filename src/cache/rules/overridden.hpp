// Request fields that make some frameworks answer as if the request had another method or URI. They
// are not part of any key, so a request with one is neither answered from the cache nor is its
// response stored: it would be sent to clients that asked for what their request line says.
#pragma once

#include "config/config.hpp"
#include "http/field/field_list.hpp"

namespace spillway::cache {

// X-HTTP-Method-Override, X-HTTP-Method, X-Method-Override, X-Original-URL, X-Original-Uri,
// X-Rewrite-URL, unless the configured `vary` has it.
bool is_overridden(const http::FieldList& request, const config::Cache& settings);

}  // namespace spillway::cache
