// Which fields of a response are stored, and which a 304 updates (RFC 9111 sections 3.1, 3.2).
#pragma once

#include "http/field/field_list.hpp"
#include "http/message/hop_by_hop.hpp"

namespace spillway::cache {

// Not stored: hop-by-hop fields; fields of a single exchange (Age, X-Request-Id, traceparent,
// tracestate, Server-Timing); framing (Content-Length, and Trailer, since trailers are not stored);
// Set-Cookie.
bool is_stored(const http::Field& field, const http::HopByHop& hop);

// Whether a field of a 304 replaces the stored fields of its name. Excluded are fields that are not
// stored, and Content-Encoding, Content-Range and Content-Type: they describe the stored bytes, and
// some servers send defaults with every 304.
bool renews(const http::Field& field, const http::HopByHop& hop);

// The fields of a stored response after a 304: the stored ones that it does not replace, then its
// own. Views of both. False if they exceed a list's capacity.
bool merge(const http::FieldList& stored, const http::FieldList& not_modified,
           http::FieldList& merged);

}  // namespace spillway::cache
