// Spillway's own error responses: refusals and proxy errors, complete with head and body.
//
// RFC 9457 problem details (application/problem+json) or a small HTML page; RFC 9209 Proxy-Status;
// never cacheable. Text from the request is escaped.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/reason.hpp"
#include "base/text_writer.hpp"
#include "base/time.hpp"
#include "http/outgoing/cache_status.hpp"

namespace spillway::http {

// A block of this size holds any response whose texts are within the limits below.
inline constexpr std::size_t kProblemRoom = 8192;

struct Problem {
  unsigned status = 503;
  Reason reason = Reason::none;            // named in the body and in Proxy-Status' details
  std::string_view class_name;             // e.g. "P1"; empty: left out; up to 128 bytes are shown
  Milliseconds retry_after{0};             // 0: no Retry-After
  std::optional<Duration> predicted_wait;  // estimated on arrival for a slot; nullopt: left out
  std::optional<Duration> queue_wait;      // adds `Server-Timing: queue;dur=3.1`
  std::string_view request_id;             // empty: left out; up to 128 bytes are shown
  std::string_view detail;       // one sentence; empty: left out; up to 512 bytes are shown
  std::string_view proxy_error;  // RFC 9209 error type; empty: proxy_error_of(reason)
  std::string_view date;         // RFC 9110 5.6.7, for the Date field; empty: left out
  bool html = false;             // an HTML page instead of JSON
  bool close = false;            // adds `Connection: close`
  CacheStatus cache_status;
  std::string_view pass_lines;  // the fields that renew a visitor's pass, each with CRLF
  bool head_only = false;       // the request was HEAD: same head, no body
};

// Returns the size of the content in bytes, after the head; nullopt if the block is too small.
std::optional<std::size_t> write_problem(TextWriter& out, const Problem& problem);

// The RFC 9209 section 2.3 error type that fits a reason best:
//  * no capacity at the upstream (saturation, queue full, waited too long, evicted):
//    connection_limit_reached, "configured to limit the number of connections to the next hop";
//  * the upstream does badly or is down (latency, errors, circuit, unavailable):
//    destination_unavailable, "considers the next hop to be unavailable";
//  * the client exceeds a limit (429) or its request is at fault (400, 408, ...):
//    http_request_error, the type of all 4xx;
//  * Spillway's own state (event loop lag, draining) or cache (not stored):
//  proxy_internal_response;
//    no descriptors or ports left: proxy_internal_error;
//  * the deadline of the request passed, wherever it was by then, or a timeout of the upstream:
//    http_response_timeout, "a configured time limit waiting for the complete response";
//  * an invalid response: http_protocol_error.
std::string_view proxy_error_of(Reason reason);

// The registered phrase, e.g. "Service Unavailable"; empty for unregistered codes.
std::string_view reason_phrase(unsigned status);

}  // namespace spillway::http
