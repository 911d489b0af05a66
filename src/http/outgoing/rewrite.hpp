// Writes the forwarded heads: requests to the upstream, responses to the client.
//
// End-to-end fields are forwarded byte for byte and in order, with duplicates, except that a
// Content-Length in an unusual form (leading zeros, a tab before it) is rewritten. Not forwarded:
// hop-by-hop fields (hop_by_hop.hpp), `Spillway-*` fields from clients, and those with a meaning
// (is_own_field()) from upstreams. All functions return false if the block is too small; a block of
// the received head's size plus kRewriteRoom is always enough.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/reason.hpp"
#include "base/text_writer.hpp"
#include "base/time.hpp"
#include "http/field/identity.hpp"
#include "http/message/head.hpp"
#include "http/outgoing/cache_status.hpp"

namespace spillway::http {

inline constexpr std::size_t kRewriteRoom = 3072;

struct ForwardedRequest {
  std::string_view client_address;  // as text, without port; IPv6 without brackets
  std::string_view default_host;    // Host for HTTP/1.0 requests without one
  bool trusted_peer = false;        // append to the forwarding fields instead of replacing them
  const ProtectedFields* protected_fields = &kNoFieldsConfigured;
  std::string_view request_id;     // the id to set; empty: the client's valid one is kept
  std::string_view traceparent;    // likewise
  bool late = false;               // adds `Spillway-Late: 1`
  bool skip_downstream = false;    // adds `Spillway-Degrade: skip-downstream`
  bool for_store = false;          // the response is to be stored: leaves out If-None-Match and
                                   // If-Modified-Since, and sends these unless they are empty:
  std::string_view etag;           // If-None-Match
  std::string_view last_modified;  // If-Modified-Since
  bool in_background = false;      // no client waits: GET, without Cache-Control and Pragma
  bool applies_prefer = false;     // this proxy applies Prefer itself, and does not forward it
  std::string_view
      request_deadline;           // X-Request-Deadline; empty: none. The client's is not forwarded
  std::string_view grpc_timeout;  // grpc-timeout, likewise
  std::string_view upgrade;       // the protocol to ask for (upgrade.hpp); empty: none
  std::string_view pass;          // adds `Spillway-Pass`; empty: not let in by a waiting room
};

// The request line in origin-form, always HTTP/1.1; Host; the client's fields;
// X-Forwarded-For, -Proto, -Host, Forwarded (RFC 7239), Via (RFC 9110 section 7.6.3). If
// a trusted peer sends only X-Forwarded-For or only Forwarded, the other begins with the
// same chain (forwarded.hpp); a malformed Forwarded is replaced. Other fields that carry
// the client's address or the original target (X-Real-IP, X-Original-URL, ...), and
// fields named in the configuration's trusted_headers, are forwarded only for a trusted
// peer, aliases of protected fields (X_Forwarded_For) for no peer (identity.hpp). Exactly
// one framing field if there is a body; `TE: trailers` is forwarded (not with an
// Upgrade); Expect is not, since the proxy answers it; Max-Forwards of OPTIONS is
// decremented.
bool write_request_head(TextWriter& out, const RequestHead& head, const ForwardedRequest& with);

struct ForwardedResponse {
  unsigned client_version = 11;
  bool keep_alive = true;              // the client's connection stays open after this response
  std::string_view request_id;         // added unless the upstream sent one; may be empty
  std::string_view date;               // likewise (RFC 9110 section 6.6.1)
  std::optional<Duration> queue_wait;  // adds `Server-Timing: queue;dur=3.1`
  bool dechunk = false;                // the chunked body is relayed without its chunk framing
  std::string_view degraded;           // adds `Spillway-Degraded: mode=MODE; reason=REASON`:
  Reason degraded_for = Reason::none;  // mode (empty: not degraded) and reason
  CacheStatus cache_status;
  std::string_view pass_lines;  // the fields that renew a visitor's pass, each with CRLF
};

// The status line as HTTP/1.1, the upstream's fields, then Via, X-Request-Id, Server-Timing and
// Connection as needed. A de-chunked body ends when the connection closes: pass keep_alive = false.
bool write_response_head(TextWriter& out, const ResponseHead& head, const ForwardedResponse& with);

// Whether a field of this `name` controls caches: RFC 9111, RFC 9213, and older ones.
bool is_cache_policy(std::string_view name);

// Writes the fields that Spillway adds to any response, and the empty line. `upstream_version` is 0
// for a response that did not come from an upstream: it gets no Via.
void write_additions(TextWriter& out, unsigned upstream_version, std::string_view request_id,
                     const ForwardedResponse& with);

// A 1xx other than 101, without its hop-by-hop fields. Not for HTTP/1.0 clients.
bool write_interim_head(TextWriter& out, const ResponseHead& head);

// The fields that a 101 gets in addition to the upstream's own.
struct ForwardedSwitch {
  std::string_view protocol;
  std::string_view request_id;  // added unless the upstream sent one; may be empty
  std::string_view pass_lines;  // the fields that renew a visitor's pass, each with CRLF
};

// A 101: Connection and Upgrade are rewritten, other end-to-end fields are forwarded.
bool write_switching_head(TextWriter& out, const ResponseHead& head, const ForwardedSwitch& with);

}  // namespace spillway::http
