// Which fields of a response are stored, and which a 304 renews (RFC 9111 sections 3.1, 3.2).
#pragma once

#include "http/field_list.hpp"
#include "http/hop_by_hop.hpp"

namespace spillway::cache {

// Left out: what ends at this hop; what is said anew of each answer or held for one exchange
// (Age, X-Request-Id, traceparent, tracestate, Server-Timing); what belongs to the framing
// (Content-Length, Trailer, since trailers are not stored); cookies.
bool is_stored(const http::Field& field, const http::HopByHop& hop);

// Whether a field of a 304 takes the place of the stored ones of its name. Besides those that are
// not stored, these do not: Content-Encoding, Content-Range and Content-Type tell how to read the
// bytes that are stored, and some servers send a default one with every 304.
bool renews(const http::Field& field, const http::HopByHop& hop);

// The fields of a stored response after a 304: the stored ones whose names the 304 does not renew,
// then those that do. Views of both. False when they are more than a list holds.
bool merge(const http::FieldList& stored, const http::FieldList& not_modified,
           http::FieldList& merged);

}  // namespace spillway::cache
