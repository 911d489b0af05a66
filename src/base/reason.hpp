// Why a request was not simply forwarded. One enum for headers, bodies, metrics and logs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace spillway {

enum class Reason : std::uint8_t {
  none,
  // Overload signals of an upstream.
  inflight_saturation,
  queue_saturation,
  queue_wait_risk,
  tail_latency,
  event_loop_lag,
  error_burst,
  // Reasons of a single request.
  queue_full,
  queue_timeout,
  deadline_expired,
  evicted,
  circuit_open,
  budget_exceeded,
  tenant_share,
  tunnel_limit,
  upstream_unavailable,
  upstream_timeout,
  upstream_invalid,
  client_gone,
  draining,
  bad_request,             // malformed, too large, ...: the client's fault
  idempotency_conflict,    // another request with its Idempotency-Key is being handled
  idempotency_mismatch,    // its Idempotency-Key was used before with another request
  request_timeout,         // the request did not arrive in time
  slow_client,             // it held a slot that others waited for, and moved too few bytes
  not_stored,              // only a cached response was allowed, and there is none
  local_shortage,          // Spillway itself ran out of descriptors, ports or memory
  response_too_large,      // a response of Spillway's own whose head does not fit its block
  store_unavailable,       // the request was to be deferred, but could not be stored
  store_full,              // likewise: the store holds as many waiting jobs as it may
  waiting_room,            // visitors wait to be let in
  poll_limit,              // a ticket was polled far more often than poll_ms allows
  join_limit,              // too many tickets were made for the client's address
  work_required,           // a place needs a proof of work, and the request has no valid one
  shedding_does_not_help,  // of a state: its signal stays high however much is rejected
};

inline constexpr std::size_t kReasonCount = 35;

// At namespace scope: within name(), compilers copy the array to the stack.
inline constexpr std::array<std::string_view, kReasonCount> kReasonNames{
    "",
    "INFLIGHT_SATURATION",
    "QUEUE_SATURATION",
    "QUEUE_WAIT_RISK",
    "TAIL_LATENCY",
    "EVENT_LOOP_LAG",
    "ERROR_BURST",
    "QUEUE_FULL",
    "QUEUE_TIMEOUT",
    "DEADLINE_EXPIRED",
    "EVICTED",
    "CIRCUIT_OPEN",
    "BUDGET_EXCEEDED",
    "TENANT_SHARE",
    "TUNNEL_LIMIT",
    "UPSTREAM_UNAVAILABLE",
    "UPSTREAM_TIMEOUT",
    "UPSTREAM_INVALID",
    "CLIENT_GONE",
    "DRAINING",
    "BAD_REQUEST",
    "IDEMPOTENCY_CONFLICT",
    "IDEMPOTENCY_MISMATCH",
    "REQUEST_TIMEOUT",
    "SLOW_CLIENT",
    "NOT_STORED",
    "LOCAL_SHORTAGE",
    "RESPONSE_TOO_LARGE",
    "STORE_UNAVAILABLE",
    "STORE_FULL",
    "WAITING_ROOM",
    "POLL_LIMIT",
    "JOIN_LIMIT",
    "WORK_REQUIRED",
    "SHEDDING_DOES_NOT_HELP",
};

// The name that clients, operators and dashboards see, e.g. "TAIL_LATENCY"; empty for none.
constexpr std::string_view name(Reason reason) { return kReasonNames[index(reason)]; }

// Signals of saturation, as opposed to signals of bad health: a denial for one of these is
// work-conserving (it happens only while no slot is free).
constexpr bool is_capacity(Reason reason) {
  return reason == Reason::inflight_saturation || reason == Reason::queue_saturation ||
         reason == Reason::queue_wait_risk;
}

// The caller has used up its share of a backend: status 429 instead of 503.
constexpr bool is_callers_own(Reason reason) {
  return reason == Reason::budget_exceeded || reason == Reason::tenant_share;
}

}  // namespace spillway
