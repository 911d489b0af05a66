#include "proxy/request/answer/fault.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "http/outgoing/problem.hpp"
#include "jobs/deferral_rule.hpp"
#include "support/places.hpp"

namespace spillway::proxy {
namespace {

constexpr Milliseconds kLater{5000};

// All that Spillway may say itself, by the reason that it gives.
std::map<Reason, std::vector<Fault>> all_faults() {
  std::vector<Fault> faults{request_timeout(),
                            slow_client(),
                            client_gone(),
                            only_if_cached(),
                            no_tunnel(Reason::tunnel_limit, kLater),
                            no_tunnel(Reason::draining, kLater),
                            circuit_open(kLater),
                            cannot_connect(false),
                            cannot_connect(true),
                            local_shortage(),
                            response_too_large(),
                            upstream_reset(),
                            upstream_failed(),
                            upstream_timeout(),
                            upstream_stalled(),
                            deadline_passed(),
                            not_deferred(Reason::store_unavailable),
                            not_deferred(Reason::store_full),
                            missing_idempotency_key(),
                            invalid_idempotency_key(),
                            reused_idempotency_key(),
                            idempotency_key_in_flight(),
                            waiting_room_open(kLater),
                            too_many_visits(Reason::poll_limit, kLater),
                            too_many_visits(Reason::join_limit, kLater),
                            work_required()};
  for (const Reason reason :
       {Reason::inflight_saturation, Reason::queue_saturation, Reason::queue_wait_risk,
        Reason::tail_latency, Reason::shedding_does_not_help, Reason::event_loop_lag,
        Reason::error_burst, Reason::queue_full, Reason::budget_exceeded, Reason::tenant_share}) {
    faults.push_back(denied(reason, kLater));
    faults.push_back(not_stored(denied(reason, kLater)));
  }
  for (const Reason reason : {Reason::queue_timeout, Reason::deadline_expired, Reason::evicted})
    faults.push_back(no_slot(reason, kLater));
  for (std::size_t e = 1; e < http::kErrorCount; ++e) {
    faults.push_back(bad_request(static_cast<http::Error>(e)));
    faults.push_back(upstream_invalid(static_cast<http::Error>(e)));
  }
  std::map<Reason, std::vector<Fault>> by_reason;
  for (const Fault& fault : faults) by_reason[fault.reason].push_back(fault);
  return by_reason;
}

struct Row {
  std::string status;
  std::string retry_after;
};

// The table of reasons in docs/observability.md.
std::map<std::string, Row> documented() {
  std::ifstream file(support::in_source("docs/observability.md"));
  std::map<std::string, Row> table;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("<!-- reasons:")) inside = line.find("begin") != std::string::npos;
    if (!inside || !line.starts_with("| `")) continue;
    std::istringstream cells(line);
    std::string cell, reason;
    Row row;
    std::getline(cells, cell, '|');
    std::getline(cells, reason, '|');
    std::getline(cells, row.status, '|');
    std::getline(cells, row.retry_after, '|');
    table[reason.substr(2, reason.size() - 4)] = row;
  }
  return table;
}

// The numbers in a text.
std::set<unsigned> numbers(const std::string& text) {
  std::set<unsigned> found;
  for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) != std::string::npos;) {
    std::size_t size = 0;
    found.insert(static_cast<unsigned>(std::stoul(text.substr(at), &size)));
    at += size;
  }
  return found;
}

}  // namespace

TEST_CASE("every fault names a reason that is documented with its status and Retry-After") {
  const auto table = documented();
  const auto faults = all_faults();
  CHECK(faults.size() == kReasonCount - 1);
  CHECK(table.size() == kReasonCount - 1);
  for (const auto& [reason, all] : faults) {
    CAPTURE(name(reason));
    REQUIRE(table.contains(std::string(name(reason))));
    const Row& row = table.at(std::string(name(reason)));
    std::set<unsigned> statuses, with_retry_after;
    for (const Fault& fault : all) {
      if (fault.status == 0) continue;
      statuses.insert(fault.status);
      if (fault.retry_after.count() > 0) with_retry_after.insert(fault.status);
    }
    CHECK(numbers(row.status) == statuses);
    if (row.retry_after == " yes ") {
      CHECK(with_retry_after == statuses);
    } else {
      CHECK(with_retry_after == numbers(row.retry_after));
    }
  }
}

TEST_CASE("a stored or fallback response may replace refusals, and shed clients return by turn") {
  std::set<Reason> refusals, shed;
  for (const auto& [reason, faults] : all_faults()) {
    for (const Fault& fault : faults) {
      if (is_refusal(fault)) refusals.insert(reason);
      if (is_shed(fault)) shed.insert(reason);
      if (is_shed(fault)) CHECK(is_refusal(fault));
    }
  }
  const std::set<Reason> load{Reason::inflight_saturation,
                              Reason::queue_saturation,
                              Reason::queue_wait_risk,
                              Reason::tail_latency,
                              Reason::event_loop_lag,
                              Reason::error_burst,
                              Reason::queue_full,
                              Reason::queue_timeout,
                              Reason::evicted,
                              Reason::shedding_does_not_help};
  CHECK(shed == load);
  std::set<Reason> all = load;
  all.insert({Reason::deadline_expired, Reason::budget_exceeded, Reason::tenant_share,
              Reason::circuit_open, Reason::local_shortage});
  CHECK(refusals == all);
  CHECK_FALSE(is_refusal(deadline_passed()));  // the upstream was asked
  CHECK(is_refusal(dropped(Reason::error_burst)));
  CHECK_FALSE(is_shed(dropped(Reason::error_burst)));
}

TEST_CASE(
    "what clients are shed for is deferred, but for event-loop lag, and failures to connect") {
  std::map<bool, std::set<Reason>> deferred;  // by include_limits
  std::set<Reason> expected;
  for (const auto& [reason, faults] : all_faults()) {
    for (const Fault& fault : faults) {
      if (is_shed(fault)) expected.insert(reason);
      for (const bool limits : {false, true}) {
        if (jobs::is_deferred_for(fault.reason, fault.outcome, {.include_limits = limits}))
          deferred[limits].insert(reason);
      }
    }
  }
  expected.erase(Reason::event_loop_lag);
  expected.insert({Reason::deadline_expired, Reason::circuit_open, Reason::local_shortage,
                   Reason::upstream_unavailable, Reason::upstream_timeout});
  CHECK(deferred[false] == expected);
  expected.insert({Reason::budget_exceeded, Reason::tenant_share});
  CHECK(deferred[true] == expected);
}

TEST_CASE("a response of the proxy itself that has no room is no fault of its client's") {
  const Fault fault = response_too_large();
  CHECK(fault.status == 500);
  CHECK_FALSE(fault.close);
  // Neither is answered by the response that failed, and is tried again.
  CHECK_FALSE(is_refusal(fault));
  CHECK_FALSE(is_of_upstream(fault.reason));
  CHECK(head_too_large().status == 431);
}

TEST_CASE("a failure of a server is known from a fault of anybody else") {
  const auto is_servers = [](const Fault& fault) { return fault.failure.has_value(); };
  for (const auto& [reason, faults] : all_faults()) {
    for (const Fault& fault : faults) {
      CAPTURE(fault.detail);
      if (is_servers(fault)) CHECK(is_of_upstream(reason));
    }
  }
  using observe::ServerFailure;
  CHECK(upstream_reset().failure == ServerFailure::reset);
  CHECK(upstream_timeout().failure == ServerFailure::response_timeout);
  CHECK(upstream_stalled().failure == ServerFailure::body_timeout);
  CHECK(upstream_invalid(http::Error::truncated).failure == ServerFailure::truncated);
  CHECK(upstream_invalid(http::Error::bad_chunk).failure == ServerFailure::invalid);
  CHECK(upstream_invalid(http::Error::bad_chunk).cause == "The chunked body is malformed.");
}

TEST_CASE("a deadline that passed is named alike wherever the request was by then") {
  for (const Fault& fault : {deadline_passed(), no_slot(Reason::deadline_expired, kLater)}) {
    const std::string_view error =
        fault.proxy_error.empty() ? http::proxy_error_of(fault.reason) : fault.proxy_error;
    CHECK(error == "http_response_timeout");
  }
  CHECK(http::proxy_error_of(Reason::queue_timeout) == "connection_limit_reached");
}

}  // namespace spillway::proxy
