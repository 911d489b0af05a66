// Request fields that make some frameworks answer as if another method or URI had been asked for.
// They are part of no key, so a request with one is neither answered from the cache nor its
// response stored: it would be given to clients that asked for what the request line says.
#pragma once

#include "config/config.hpp"
#include "http/field/field_list.hpp"

namespace spillway::cache {

// X-HTTP-Method-Override, X-HTTP-Method, X-Method-Override, X-Original-URL, X-Original-Uri,
// X-Rewrite-URL, unless the configured `vary` has it.
bool is_overridden(const http::FieldList& request, const config::Cache& settings);

}  // namespace spillway::cache
