// The errors of an HTTP/1 message, one value each, and the only place that maps them to a status, a
// sentence and an RFC 9209 error type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/static_text.hpp"

namespace spillway::http {

enum class Error : std::uint8_t {
  none,
  bad_request_line,     // not `method SP target SP HTTP/x.y`
  bad_method,           // a standard method in lower case
  bad_target,           // a target form that the method does not allow, or a fragment
  ambiguous_path,       // may be read as the path of another route (traffic/route/path.hpp)
  bad_status_line,      // (upstream) not `HTTP/1.x SP 3DIGIT SP reason`
  bad_character,        // NUL, bare CR, bare LF or another control character in a head
  bad_field,            // not `token ":" value`, or a Connection that is not a list of tokens
  repeated_field,       // a field that identifies the client (traffic/client/sole_fields.hpp)
  obs_fold,             // a field value continued on the next line
  bad_host,             // missing, repeated or not `host [":" port]`
  bad_framing,          // Transfer-Encoding and Content-Length: conflicting, repeated, malformed
  unknown_coding,       // 501: a transfer coding before a final chunked
  bad_chunk,            // chunk size, extension or line end
  bad_trailer,          // malformed trailer section, or a field that may not be a trailer
  head_too_large,       // 431
  too_many_fields,      // 431
  uri_too_long,         // 414
  body_too_large,       // 413
  method_refused,       // 405: CONNECT and TRACE
  version_unsupported,  // 505: not HTTP/1.x; also HTTP/2's connection preface
  expectation_failed,   // 417: an Expect other than 100-continue
  truncated,            // the connection ended inside the message
};

inline constexpr std::size_t kErrorCount = 23;

// The status of the response to a request with this error (400 unless the enum says otherwise).
// Errors in an upstream's response always give 502. 0 for none.
int status_of(Error error);

// A sentence for the response body, e.g. "The header section is too large."; empty for none.
StaticText describe(Error error);

// The RFC 9209 section 2.3 error type for an error in the client's request: always
// http_request_error, the type for 4xx that an intermediary generates.
StaticText proxy_status(Error error);

// Likewise for an error in the upstream's response, e.g. http_response_incomplete,
// http_protocol_error.
StaticText upstream_proxy_status(Error error);

}  // namespace spillway::http
