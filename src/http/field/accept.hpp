// Content negotiation for Spillway's own responses: HTML or JSON.
#pragma once

#include "http/field/field_list.hpp"

namespace spillway::http {

// Whether the Accept fields give text/html a higher weight than JSON (RFC 9110 section 12.5.1).
// Absent, malformed, equal or `*/*`: JSON.
bool prefers_html(const FieldList& fields);

}  // namespace spillway::http
