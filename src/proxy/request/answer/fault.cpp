#include "proxy/request/answer/fault.hpp"

namespace spillway::proxy {

bool is_of_upstream(Reason reason) {
  switch (reason) {
    case Reason::upstream_unavailable:
    case Reason::upstream_timeout:
    case Reason::upstream_invalid:
    case Reason::circuit_open: return true;
    default: return false;
  }
}

bool says_failure(unsigned status) {
  return status == 500 || status == 502 || status == 503 || status == 504;
}

bool is_refusal(const Fault& fault) {
  switch (fault.outcome) {
    case Outcome::denied:
      return fault.reason != Reason::tunnel_limit && fault.reason != Reason::draining;
    case Outcome::dropped:
    case Outcome::expired:
    case Outcome::evicted: return true;
    case Outcome::error:
      return fault.reason == Reason::circuit_open || fault.reason == Reason::local_shortage;
    default: return false;
  }
}

bool is_shed(const Fault& fault) {
  return is_refusal(fault) && fault.outcome != Outcome::error &&
         fault.outcome != Outcome::dropped && fault.reason != Reason::deadline_expired &&
         !is_callers_own(fault.reason);
}

Fault bad_request(http::Error error) {
  return {.reason = Reason::bad_request,
          .status = static_cast<std::uint16_t>(http::status_of(error)),
          .close = true,
          .proxy_error = http::proxy_status(error),
          .detail = http::describe(error)};
}

Fault options_answered() {
  return {.outcome = Outcome::cached,
          .status = 200,
          .detail = "Answered by the proxy: Max-Forwards is 0."};
}

Fault tls_on_plain_port() {
  Fault fault = bad_request(http::Error::bad_character);
  fault.detail = "This is TLS; the port speaks plain HTTP.";
  return fault;
}

Fault request_timeout() {
  return {.reason = Reason::request_timeout,
          .status = 408,
          .close = true,
          .detail = "The request did not arrive in time."};
}

Fault slow_client() {
  return {.reason = Reason::slow_client,
          .status = 408,
          .close = true,
          .detail = "The request was sent or its answer taken too slowly while others waited."};
}

Fault client_gone() {
  return {.outcome = Outcome::client_gone, .reason = Reason::client_gone, .close = true};
}

Fault process_ended() {
  return {.reason = Reason::draining,
          .close = true,
          .detail = "The process ended before the response was complete."};
}

Fault denied(Reason reason, Milliseconds retry_after) {
  StaticText detail =
      "The service is busy and is taking only part of its requests. Please try again later.";
  if (reason == Reason::budget_exceeded)
    detail = "The rate limit for requests of this kind is used up. Please try again later.";
  if (reason == Reason::tenant_share)
    detail = "The service is busy, and you ask for more than your share of it.";
  return {.outcome = Outcome::denied,
          .reason = reason,
          .status = static_cast<std::uint16_t>(is_callers_own(reason) ? 429 : 503),
          .detail = detail,
          .retry_after = retry_after};
}

Fault not_stored(Fault denied) {
  denied.detail =
      "The service is busy and answers only from what it has stored, where this is not. Please try "
      "again later.";
  denied.only_stored = true;
  return denied;
}

Fault only_if_cached() {
  return {.reason = Reason::not_stored,
          .status = 504,
          .only_stored = true,
          .detail = "The request asks for a cached response only, and there is none."};
}

Fault dropped(Reason reason) {
  return {.outcome = Outcome::dropped, .reason = reason, .close = true};
}

Fault no_slot(Reason reason, Milliseconds retry_after) {
  return {.outcome = reason == Reason::evicted ? Outcome::evicted : Outcome::expired,
          .reason = reason,
          .status = 503,
          .detail = reason == Reason::evicted
                        ? "The request gave way to a more urgent one. Please try again later."
                    : reason == Reason::deadline_expired
                        ? "The request could not be started before its deadline."
                        : "The request could not be started in time. Please try again later.",
          .retry_after = retry_after};
}

Fault no_tunnel(Reason reason, Milliseconds retry_after) {
  return {.outcome = Outcome::denied,
          .reason = reason,
          .status = 503,
          .detail =
              reason == Reason::draining
                  ? "This proxy is about to end and opens no lasting connections any more."
                  : "There are as many lasting connections as may be, in all or from one client's "
                    "address. Please try again later.",
          .retry_after = retry_after};
}

Fault circuit_open(Milliseconds retry_after) {
  return {.reason = Reason::circuit_open,
          .status = 503,
          .detail = "The service behind this proxy fails and is not asked for the time being.",
          .retry_after = retry_after};
}

Fault cannot_connect(bool timed_out) {
  return {.reason = timed_out ? Reason::upstream_timeout : Reason::upstream_unavailable,
          .status = static_cast<std::uint16_t>(timed_out ? 504 : 502),
          .proxy_error = timed_out ? "connection_timeout" : "connection_refused",
          .detail = "The service behind this proxy cannot be reached."};
}

Fault local_shortage() {
  return {.reason = Reason::local_shortage,
          .status = 503,
          .detail = "This proxy has no room for another connection. Please try again later.",
          .retry_after = Milliseconds{1000}};
}

Fault upstream_reset() {
  return {.reason = Reason::upstream_unavailable,
          .status = 502,
          .failure = observe::ServerFailure::reset,
          .proxy_error = "connection_terminated",
          .detail = "The service behind this proxy closed the connection without an answer."};
}

Fault upstream_failed() {
  return {.reason = Reason::upstream_unavailable,
          .status = 502,
          .detail = "The service behind this proxy failed."};
}

Fault upstream_timeout() {
  return {.reason = Reason::upstream_timeout,
          .status = 504,
          .failure = observe::ServerFailure::response_timeout,
          .detail = "The service behind this proxy did not answer in time."};
}

Fault upstream_stalled() {
  return {.reason = Reason::upstream_timeout,
          .status = 504,
          .failure = observe::ServerFailure::body_timeout,
          .detail = "The service behind this proxy did not end its answer in time."};
}

Fault deadline_passed() {
  return {.reason = Reason::deadline_expired,
          .status = 504,
          .detail = "The answer did not come before the deadline of the request."};
}

Fault upstream_invalid(http::Error error) {
  return {.reason = Reason::upstream_invalid,
          .status = 502,
          .failure = error == http::Error::truncated ? observe::ServerFailure::truncated
                                                     : observe::ServerFailure::invalid,
          .proxy_error = http::upstream_proxy_status(error),
          .detail = "The service behind this proxy gave an invalid answer.",
          .cause = http::describe(error)};
}

Fault not_deferred(Reason reason) {
  return {.reason = reason,
          .status = 503,
          .detail = reason == Reason::store_full
                        ? "There is no room to keep more requests for later. Please try again "
                          "later."
                        : "The service is busy, and this proxy cannot keep the request for later. "
                          "Please try again later.",
          .retry_after = Milliseconds{5000}};
}

Fault share_of_deferred_is_full() {
  return {.reason = Reason::store_full,
          .status = 503,
          .detail =
              "As many requests of this client are kept for later as leave room for those of "
              "others. Please try again later.",
          .retry_after = Milliseconds{5000}};
}

Fault missing_idempotency_key() {
  return {.reason = Reason::bad_request,
          .status = 400,
          .detail = "A request of this kind needs an Idempotency-Key."};
}

Fault invalid_idempotency_key() {
  return {.reason = Reason::bad_request,
          .status = 400,
          .detail = "Idempotency-Key has to be one text of 1 to 255 characters."};
}

Fault reused_idempotency_key() {
  return {.reason = Reason::idempotency_mismatch,
          .status = 422,
          .detail = "This Idempotency-Key came with another request before."};
}

Fault idempotency_key_in_flight() {
  return {.reason = Reason::idempotency_conflict,
          .status = 409,
          .detail =
              "A request with this Idempotency-Key is being answered. Ask again when it has "
              "been.",
          .retry_after = Milliseconds{1000}};
}

Fault head_too_large() { return bad_request(http::Error::head_too_large); }

Fault response_too_large() {
  return {.reason = Reason::response_too_large,
          .status = 500,
          .detail = "The header section of the response has no room in this proxy."};
}

Fault waiting_room_open(Milliseconds retry_after) {
  return {.outcome = Outcome::waiting,
          .reason = Reason::waiting_room,
          .status = 503,
          .detail = "Visitors wait to be let in: open the page in a browser to take a place.",
          .retry_after = retry_after};
}

Fault too_many_visits(Reason reason, Milliseconds retry_after) {
  const bool is_poll = reason == Reason::poll_limit;
  return {.outcome = Outcome::waiting,
          .reason = reason,
          .status = 429,
          .detail =
              is_poll ? "This ticket is polled more often than poll_ms allows. It keeps its place."
                      : "Too many tickets were made for this address. What this visitor carries is "
                        "still good.",
          .retry_after = retry_after};
}

Fault work_required() {
  return {.outcome = Outcome::waiting,
          .reason = Reason::work_required,
          .status = 403,
          .detail =
              "A place takes the nonce of the challenge in Spillway-Work. Ask without a token for "
              "another challenge."};
}

}  // namespace spillway::proxy
