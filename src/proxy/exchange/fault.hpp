// Why an exchange did not end with a relayed response, and the one place that maps each cause to
// what the client is told: status, reason, RFC 9209 error type, one sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/outcome.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"
#include "http/error.hpp"
#include "observe/server_failure.hpp"

namespace spillway::proxy {

struct Fault {
  Outcome outcome = Outcome::error;
  Reason reason = Reason::none;
  unsigned status = 0;           // 0: close without an answer
  std::string_view proxy_error;  // RFC 9209 error type; empty: derived from the reason
  std::string_view detail;       // one sentence
  std::string_view cause;        // what exactly was wrong, for the log; empty: as `detail` says
  std::optional<observe::ServerFailure> failure;  // of the server that was asked
  Milliseconds retry_after{0};
  bool only_stored = false;  // said in Cache-Status
  bool close = false;        // where the next request begins is not known
};

// The upstream has failed, or is not asked because it has: a stored answer may take the place of
// this one.
bool is_of_upstream(Reason reason);
// A response of 500, 502, 503 or 504 says so itself.
bool says_failure(unsigned status);

// The request itself is at fault.
Fault bad_request(http::Error error);
// Not one: OPTIONS that was to come no further than here.
Fault options_answered();
// The request's head or body did not arrive in time: 408.
Fault request_timeout();
// The client left: nobody to tell.
Fault client_gone();
// Refused on arrival, by rule or by the gate.
Fault denied(Reason reason, Milliseconds retry_after);
// The same where nothing but a stored answer would do, and there is none: says so.
Fault not_stored(Fault denied);
// Nothing is stored for a request that asks for a stored answer only (RFC 9111 section 5.2.1.7):
// 504.
Fault only_if_cached();
// Refused by a `drop` rule: closed without an answer.
Fault dropped(Reason reason);
// The queue's verdict on one that waited (or came too late to): QUEUE_TIMEOUT, DEADLINE_EXPIRED
// or EVICTED.
Fault waited_in_vain(Reason reason, Milliseconds retry_after);

// There is no room for one more upgraded connection or event stream (TUNNEL_LIMIT), or the proxy
// is DRAINING: 503.
Fault no_tunnel(Reason reason, Milliseconds retry_after);

// The circuits of all the upstream's servers are open, so that none is asked: 503.
Fault circuit_open(Milliseconds retry_after);
// No server of the upstream could be connected to: 502 (refused) or 504 (no answer in time).
Fault cannot_connect(bool timed_out);
// No connection for want of descriptors, ports or memory of our own, of which the upstream is
// innocent: 503.
Fault local_shortage();
// The connection broke before a response came: 502.
Fault upstream_reset();
// It answered 500, 502, 503 or 504, of which the client is told something better.
Fault upstream_failed();
// No response head in time: 504.
Fault upstream_timeout();
// The head came, but not all of the body in time: 504, if nothing of it has been passed on.
Fault upstream_stalled();
// The request's deadline passed while its answer was awaited: 504. No fault of the upstream, which
// may have been given very little time.
Fault deadline_passed();
// The response is not HTTP that may be passed on: 502.
Fault upstream_invalid(http::Error error);
// A head that has no room in the block it must be rewritten into.
Fault head_too_large();

}  // namespace spillway::proxy
