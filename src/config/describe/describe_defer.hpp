// The keys of `store`, `jobs` and `defer`, described as in config/describe/describe.hpp.
#pragma once

#include <cstdint>

#include "config/config.hpp"
#include "config/describe/constraint.hpp"

namespace spillway::config {

template <class Visitor>
void describe(Visitor& visit, Store& x) {
  visit("url", x.url, kStoreUrl,
        "Where deferred requests are kept; memory: loses them with the process. A relative FILE is "
        "relative to the directory of the configuration file. Default: sqlite:spillway.db, in "
        "systemd's StateDirectory if there is one.");
  visit("key_file", x.key_file, kOptionalFileName,
        "File with 32 bytes, raw or as 64 hexadecimal digits, with which requests and answers "
        "are encrypted (AES-256-GCM); empty: they are not.");
  visit("max_bytes", x.max_bytes, Range{1 << 20, std::int64_t{1} << 50},
        "Space that the store may take; beyond it requests are refused rather than deferred "
        "(STORE_FULL).");
  visit("lookups_per_second", x.lookups_per_second, Real{0.1, 1e6},
        "How often all clients together may ask after their jobs, and a quarter of it each tenant; "
        "more are answered 429.");
  visit("lease_ms", x.lease, Range{1000, kHour},
        "How long this proxy's jobs stay its own without a sign of life; another proxy takes them "
        "over then.");
  visit(
      "rooms_kept_ms", x.rooms_kept, Range{kHour, 365 * kDay},
      "With postgresql: after so long without a proxy that has it a waiting room is deleted, with "
      "all places; with sqlite, once no process has written any for so long, by the next that "
      "starts "
      "without waiting rooms. It has to be longer than all proxies are stopped at a time.");
}

template <class Visitor>
void describe(Visitor& visit, JobBackoff& x) {
  visit("base_ms", x.base, Range{1, kDay},
        "Longest pause after the first attempt that failed; a random part of it is waited. Doubled "
        "each time.");
  visit("max_ms", x.max, Range{1, kDay}, "What that pause is doubled up to.");
}

template <class Visitor>
void describe(Visitor& visit, IdempotencyPrincipal& x) {
  visit("fields", x.fields, ListOf<Format>{kRequestField, 0, 16},
        "Request fields that say whose the key is, as X-User of a server in front. Not such as a "
        "client may fill with another one's value: it would be told of that one's jobs.");
  visit("cookies", x.cookies, ListOf<Format>{kGivenCookieName, 0, 16},
        "Cookies that do, by name, as that of a session; the others may change.");
}

template <class Visitor>
void describe(Visitor& visit, Defer& x) {
  visit("when", x.when, ByType{},
        "Which requests are deferred: those that would be refused for want of room, all, or those "
        "with Prefer: respond-async. GET and HEAD only with that field.");
  visit("include_limits", x.include_limits, ByType{},
        "With overloaded, also those that a budget or a tenant's fair share refuses.");
  visit(
      "max_body_bytes", x.max_body_bytes, Range{0, std::int64_t{64} << 20},
      "Longest request body that is deferred, and no longer than a 32nd of limits.buffer_bytes; a "
      "longer one is forwarded or refused as without defer, but 413 if its request was to be "
      "deferred and its length shows only then.");
  visit("max_attempts", x.max_attempts, Range{1, 1000},
        "Attempts that reach the upstream, after which a job is dead.");
  visit("backoff", x.backoff, ByType{}, "The pause after an attempt that failed.");
  visit(
      "lease_ms", x.lease, Range{1000, kDay},
      "Longest time of one attempt; then its upstream request is ended. Where it is set the head "
      "of the answer may come until then, though response_timeout_ms is shorter. Default: 300000.");
  visit("ttl_ms", x.ttl, Range{1000, kYear},
        "How long a job may wait for its end; then it expires.");
  visit("retry_unanswered", x.retry_unanswered, ByType{},
        "Send a request again that was sent and not answered though its method is not idempotent. "
        "false: it is dead, since the upstream may have done its work. Not after the proxy was "
        "killed (kill -9, power): then it is sent again whatever its method (docs/jobs.md, 1).");
  visit("require_idempotency_key", x.require_idempotency_key, ByType{},
        "Answer 400 to a request without Idempotency-Key that would be deferred.");
  visit("idempotency_principal", x.idempotency_principal, ByType{},
        "What of a request says whose its Idempotency-Key is, besides route and tenant; {}: "
        "nothing, the tenant is one user. Default: all of Authorization, Proxy-Authorization, "
        "Cookie and X-Api-Key (docs/jobs.md, 1).");
  visit("concurrency", x.concurrency, Range{1, 1'000'000},
        "Jobs of the route that may run at a time, in all proxies that share the store; default: "
        "as many as slots are free.");
  visit("rate", x.rate, Real{0.001, 1e6},
        "Jobs of the route that may begin per second, in all proxies that share the store; "
        "default: no cap.");
  visit("result_ttl_ms", x.result_ttl, Range{1000, kYear},
        "How long a job and its answer are kept after its end.");
  visit("max_result_bytes", x.max_result_bytes, Range{0, std::int64_t{64} << 20},
        "Longest answer that is kept; of a longer one status and fields.");
  visit(
      "max_pending", x.max_pending, Range{1, 100'000'000},
      "Jobs of the route that may wait in the store; more are refused (STORE_FULL). One tenant may "
      "have three times as many as are left, so three quarters if it is alone.");
  visit("order_by", x.order_by, kFieldName,
        "Request field whose value names a sequence: its jobs run one after another, in the order "
        "of their acceptance, retries included, and no request of it overtakes them; empty: no "
        "order.");
  visit("class", x.traffic_class, ClassName{},
        "Class in which jobs compete with live requests; default: below all, with the slots that "
        "no live request wants.");
}

}  // namespace spillway::config
