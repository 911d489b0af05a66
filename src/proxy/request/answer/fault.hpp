// Why an exchange ends without a response of the upstream, and the one place that maps each cause
// to status, reason, RFC 9209 error type and one sentence.
#pragma once

#include <cstdint>
#include <optional>

#include "base/outcome.hpp"
#include "base/reason.hpp"
#include "base/static_text.hpp"
#include "base/time.hpp"
#include "http/message/error.hpp"
#include "observe/count/server_failure.hpp"

namespace spillway::proxy {

struct Fault {
  Outcome outcome = Outcome::error;
  Reason reason = Reason::none;
  std::uint16_t status = 0;                       // 0: close without a response
  std::optional<observe::ServerFailure> failure;  // of the server that was asked
  bool only_stored : 1 = false;                   // the client accepts only a stored response
  bool close : 1 = false;                         // the start of the next request is unknown
  // It got no slot, but would or might have got one without the deadline that its client chose, so
  // it says nothing about the upstream's capacity.
  bool by_clients_deadline : 1 = false;
  StaticText proxy_error;  // RFC 9209 error type; empty: derived from the reason
  StaticText detail;       // one sentence
  StaticText cause;        // the exact error, for the log; empty: as `detail`
  Milliseconds retry_after{0};
};
// A request's coroutine frames hold many of them.
static_assert(sizeof(Fault) <= 40);

// The upstream has failed, or is not asked because it failed before (open circuit). A stored
// response may take its place.
bool is_of_upstream(Reason reason);
// 500, 502, 503 and 504: the upstream itself reports a failure.
bool says_failure(unsigned status);

// The proxy refuses the request, for lack of room or because the upstream is not to be asked. A
// stored or fallback response may take its place. Not so for a refused tunnel, which no response
// could replace.
bool is_refusal(const Fault& fault);

// Refused because of the upstream's load, not because of the client's behaviour: a time of return
// is booked for the client (overload/admission/retry_booking.hpp).
bool is_shed(const Fault& fault);

// Failures are `cold`: the compiler places their code apart from that of the usual request, which
// then takes fewer lines of the instruction cache.

// The request is invalid.
[[gnu::cold]] Fault bad_request(http::Error error);
// The client began with a TLS record (RFC 8446 section 5.1): 400.
[[gnu::cold]] Fault tls_on_plain_port();
// Not an error: OPTIONS with Max-Forwards: 0, answered here.
[[gnu::cold]] Fault options_answered();
// The request's head or body did not arrive in time: 408.
[[gnu::cold]] Fault request_timeout();
// The client kept others waiting for its slot, and sent or took too few bytes
// (limits.slot_rate_bytes): 408.
[[gnu::cold]] Fault slow_client();
// The client left: no response.
[[gnu::cold]] Fault client_gone();
// The process ends before the response is complete.
[[gnu::cold]] Fault process_ended();
// Refused on arrival, by rule or by the gate.
Fault denied(Reason reason, Milliseconds retry_after);
// The same under cache_only, without a stored response: Cache-Status says so.
Fault not_stored(Fault denied);
// only-if-cached, without a stored response (RFC 9111 section 5.2.1.7): 504.
[[gnu::cold]] Fault only_if_cached();
// Refused by a `drop` rule: the connection is closed without a response.
Fault dropped(Reason reason);
// The request left the queue without a slot, or came too late to enter it: QUEUE_TIMEOUT,
// DEADLINE_EXPIRED or EVICTED.
Fault no_slot(Reason reason, Milliseconds retry_after);

// limits.tunnels is reached (TUNNEL_LIMIT), or the proxy is DRAINING: 503.
[[gnu::cold]] Fault no_tunnel(Reason reason, Milliseconds retry_after);

// The circuits of all the upstream's servers are open, so none is asked: 503.
[[gnu::cold]] Fault circuit_open(Milliseconds retry_after);
// The proxy could connect to no server of the upstream: 502 (refused) or 504 (no answer in time).
[[gnu::cold]] Fault cannot_connect(bool timed_out);
// This process or machine lacks descriptors, ports or memory for a connection; not a failure of the
// upstream: 503.
[[gnu::cold]] Fault local_shortage();
// The connection broke before a response came: 502.
[[gnu::cold]] Fault upstream_reset();
// The upstream answered 500, 502, 503 or 504, and a stored response takes its place.
[[gnu::cold]] Fault upstream_failed();
// No response head in time: 504.
[[gnu::cold]] Fault upstream_timeout();
// The head came, but the body did not come completely in time: 504, if nothing has been relayed.
[[gnu::cold]] Fault upstream_stalled();
// The request's deadline passed before the response: 504. Not a failure of the upstream, which may
// have had very little time.
[[gnu::cold]] Fault deadline_passed();
// The response is not valid HTTP: 502.
[[gnu::cold]] Fault upstream_invalid(http::Error error);
// The request was to be deferred, but the store cannot take it (STORE_UNAVAILABLE) or has no room
// (STORE_FULL): 503.
[[gnu::cold]] Fault not_deferred(Reason reason);
// The tenant's share of the store is full: STORE_FULL, 503.
[[gnu::cold]] Fault share_of_deferred_is_full();
// A request that would be deferred lacks an Idempotency-Key where one is required (400), or its key
// cannot be read (400), came with a different request before (422 IDEMPOTENCY_MISMATCH), or is that
// of a request in progress (409 IDEMPOTENCY_CONFLICT):
// draft-ietf-httpapi-idempotency-key-header-07, section 2.7.
[[gnu::cold]] Fault missing_idempotency_key();
[[gnu::cold]] Fault invalid_idempotency_key();
[[gnu::cold]] Fault reused_idempotency_key();
[[gnu::cold]] Fault idempotency_key_in_flight();
// The head of a request does not fit the largest block: 431.
[[gnu::cold]] Fault head_too_large();
// The head of a response of the proxy itself, for instance from its cache, does not fit: 500.
// Nothing takes its place, since a substitute would fail in the same way.
[[gnu::cold]] Fault response_too_large();

// Visitors have to wait, and this request is no visit (an image, a form, a prefetch): 503.
Fault waiting_room_open(Milliseconds retry_after);
// A ticket is polled too often (POLL_LIMIT), or too many were made for the client's address
// (JOIN_LIMIT): 429. Nothing takes its place, and it is not deferred, since that would bypass the
// line.
Fault too_many_visits(Reason reason, Milliseconds retry_after);
// A place requires a proof of work (waiting_room.challenge), and the request has none or a wrong
// one: 403. Its stamp may have been issued before the challenge was switched on.
Fault work_required();

}  // namespace spillway::proxy
