// The keys of upstreams, described as in config/describe/describe.hpp.
#pragma once

#include "config/config.hpp"
#include "config/describe/constraint.hpp"

namespace spillway::config {

template <class Visitor>
void describe(Visitor& visit, CircuitBreaker& x) {
  visit("consecutive_failures", x.consecutive_failures, Range{0, 1'000'000},
        "Failures in a row that open the circuit, not if all are those of one client or path while "
        "others, with min_samples requests in the window, are served; 0: these do not.");
  visit("failure_rate", x.failure_rate, Real{0, 1},
        "Failure rate in the window that opens the circuit. The four clients or paths that fail "
        "most do not count if the others sent at least min_samples requests. 0: off.");
  visit("min_samples", x.min_samples, Range{1, 1'000'000},
        "Requests in the window below which the share says nothing.");
  visit("window_ms", x.window, Range{100, 600'000}, "Time over which the share is taken.");
  visit("open_ms", x.open, Range{1, kHour},
        "Time before an open circuit lets a request through to see, within a tenth; doubled each "
        "time that it opens again.");
  visit("max_open_ms", x.max_open, Range{1, kHour}, "What that time is doubled up to.");
}

template <class Visitor>
void describe(Visitor& visit, HealthCheck& x) {
  visit("path", x.path, kProbeTarget, "What is asked for with GET; empty: a connection will do.");
  visit("host", x.host, kHost, "Its Host; empty: the server as configured.");
  visit("interval_ms", x.interval, Range{10, kHour}, "Time between two checks of a server.");
  visit("timeout_ms", x.timeout, Range{1, kHour},
        "Time that a check may take; default: 1000, but at most interval_ms.");
  visit("healthy_after", x.healthy_after, Range{1, 1000},
        "Passed checks in a row after which the server is healthy.");
  visit("unhealthy_after", x.unhealthy_after, Range{1, 1000},
        "Failed checks in a row after which the server is unhealthy.");
  visit("min_status", x.min_status, Range{100, 599}, "Least status that is a success.");
  visit("max_status", x.max_status, Range{100, 599}, "Greatest status that is a success.");
}

template <class Visitor>
void describe(Visitor& visit, Ejection& x) {
  visit("consecutive_failures", x.consecutive_failures, Range{0, 1'000'000},
        "Failures in a row, over all workers, that eject a server; 0: none.");
  visit("base_ms", x.base, Range{1, kDay},
        "How long it is left out the first time; doubled each time again.");
  visit("max_ms", x.max, Range{1, kDay}, "What that time is doubled up to.");
  visit("max_ejected_ratio", x.max_ejected_ratio, Real{0, 1},
        "Share of the servers that may be ejected at a time, rounded down.");
}

template <class Visitor>
void describe(Visitor& visit, Retries& x) {
  visit("attempts", x.attempts, Range{0, 10}, "Attempts besides the first; 0: none.");
  visit("budget_ratio", x.budget_ratio, Real{0, 10},
        "Retries per request of the last ten seconds that the upstream is asked for at most.");
  visit("budget_per_second", x.budget_per_second, Real{0, 1e6},
        "Retries per second besides, so that there are any while it is quiet.");
  visit("backoff_ms", x.backoff, Range{0, kHour},
        "Pause before the same server is asked again: this long, give or take a half, doubled each "
        "time. A server that was not asked yet is asked at once.");
  visit("max_backoff_ms", x.max_backoff, Range{0, kHour}, "What that pause is doubled up to.");
}

template <class Visitor>
void describe(Visitor& visit, Upstream& x) {
  constexpr ListOf<Format> servers{kServer, 1, 64};
  visit(required("name"), x.name, kName, "Name of the upstream, as routes and metrics say it.");
  visit(required("servers"), x.servers, servers, "Servers that share its requests.");
  visit("connect_timeout_ms", x.connect_timeout, Range{1, kHour},
        "Time to connect to a server; no other is tried once twice as much is over.");
  visit("response_timeout_ms", x.response_timeout, Range{1, kHour},
        "Time until the response head as a whole, then between two reads of the body.");
  visit("total_timeout_ms", x.total_timeout, OrOff<Range>{{1, kDay}},
        "Time from dispatch to the end of the response, event streams excepted; null: any.");
  visit("idle_connections", x.idle_connections, Range{0, 100'000},
        "Connections kept open for reuse, over all workers. With fewer than dispatch.concurrency "
        "some are closed and opened anew under load.");
  visit(
      "balance", x.balance, ByType{},
      "Which server gets a request: the one with the fewest in flight, the better of two drawn at "
      "random, or the next in turn.");
  visit("health_check", x.health_check, ByType{},
        "Asks each server at intervals whether it is healthy; default: only requests find out.");
  visit("ejection", x.ejection, ByType{}, "Leaves a server out that fails while others do not.");
  visit(
      "retries", x.retries, ByType{},
      "Further attempts for requests that may be sent again: idempotent, small, and without a byte "
      "of an answer.");
  visit("circuit_breaker", x.circuit_breaker, ByType{},
        "Leaves a server that fails alone for a while; default: every request may find out.");
  visit("dispatch", x.dispatch, Overrides{"dispatch"}, "What differs from the global dispatch.");
  visit("overload", x.overload, Overrides{"overload"}, "What differs from the global overload.");
}

}  // namespace spillway::config
