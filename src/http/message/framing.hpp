// Message framing and target: the checks that keep two recipients from reading the same bytes as
// different messages (request smuggling). Strict where the RFCs leave a choice.
#pragma once

#include "http/message/error.hpp"
#include "http/message/head.hpp"

namespace spillway::http {

// Fills host, path_and_query, framing, keep_alive, expect_continue, upgrade and is_final_recipient
// of a parsed request, or returns the error:
//  * Transfer-Encoding must be one field, exactly "chunked", and HTTP/1.1 (RFC 9112 6.1, 6.3);
//    other codings before it are unknown_coding;
//  * never together with Content-Length; Content-Length once, digits only, no list, < 2^63;
//  * Host exactly once in HTTP/1.1, at most once in 1.0, a valid host[:port] (RFC 9112 3.2);
//    an absolute-form target overrides it (3.2.2); asterisk-form only for OPTIONS (3.2.4);
//  * CONNECT and TRACE are refused; Expect may only be 100-continue (RFC 9110 10.1.1), and is
//    ignored in HTTP/1.0;
//  * Connection names at most kMaxConnectionOptions fields (hop_by_hop.hpp).
Error request_framing(RequestHead& head);

// Fills framing and keep_alive of a parsed response to a request with this method (RFC 9112 section
// 6.3): no body for HEAD, 1xx, 204, 304; chunked; length; otherwise until the connection closes.
// Conflicting or malformed framing fields are errors, as is a repeated Transfer-Encoding. Repeated
// equal Content-Length values count as one, as in HAProxy: unlike with a request, all recipients
// find the same end.
Error response_framing(ResponseHead& head, Verb request_method);

}  // namespace spillway::http
