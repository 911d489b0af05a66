// In place of which refusals a request is deferred: a row for each reason.
#include "jobs/deferral_rule.hpp"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string>

using namespace spillway;

namespace {

// When the request is deferred.
enum class When {
  always,
  without_deadline,  // unless its client chose the one that passed
  with_limits,       // only with include_limits
  never,
};

struct Row {
  Reason reason;
  Outcome outcome;  // with which such a request ends
  When when;
};

constexpr std::array<Row, kReasonCount> kRows{{
    {Reason::none, Outcome::error, When::never},
    {Reason::inflight_saturation, Outcome::denied, When::always},
    {Reason::queue_saturation, Outcome::denied, When::always},
    {Reason::queue_wait_risk, Outcome::denied, When::always},
    {Reason::tail_latency, Outcome::denied, When::always},
    {Reason::event_loop_lag, Outcome::denied, When::never},
    {Reason::error_burst, Outcome::denied, When::always},
    {Reason::queue_full, Outcome::denied, When::always},
    {Reason::queue_timeout, Outcome::expired, When::always},
    {Reason::deadline_expired, Outcome::expired, When::without_deadline},
    {Reason::evicted, Outcome::evicted, When::always},
    {Reason::circuit_open, Outcome::error, When::always},
    {Reason::budget_exceeded, Outcome::denied, When::with_limits},
    {Reason::tenant_share, Outcome::denied, When::with_limits},
    {Reason::tunnel_limit, Outcome::denied, When::never},
    {Reason::upstream_unavailable, Outcome::error, When::always},
    {Reason::upstream_timeout, Outcome::error, When::always},
    {Reason::upstream_invalid, Outcome::error, When::never},
    {Reason::client_gone, Outcome::client_gone, When::never},
    {Reason::draining, Outcome::denied, When::never},
    {Reason::bad_request, Outcome::error, When::never},
    {Reason::idempotency_conflict, Outcome::error, When::never},
    {Reason::idempotency_mismatch, Outcome::error, When::never},
    {Reason::request_timeout, Outcome::error, When::never},
    {Reason::slow_client, Outcome::error, When::never},
    {Reason::not_stored, Outcome::error, When::never},
    {Reason::local_shortage, Outcome::error, When::always},
    {Reason::response_too_large, Outcome::error, When::never},
    {Reason::store_unavailable, Outcome::error, When::never},
    {Reason::store_full, Outcome::error, When::never},
    {Reason::waiting_room, Outcome::waiting, When::never},
    {Reason::poll_limit, Outcome::waiting, When::never},
    {Reason::join_limit, Outcome::waiting, When::never},
    {Reason::work_required, Outcome::waiting, When::never},
    {Reason::shedding_does_not_help, Outcome::denied, When::always},
}};

bool is_deferred(const Row& row, bool include_limits, bool is_clients_deadline) {
  return jobs::is_deferred_for(
      row.reason, row.outcome,
      {.include_limits = include_limits, .is_clients_deadline = is_clients_deadline});
}

}  // namespace

TEST_CASE("what room or a healthy server would have prevented is deferred, and nothing else") {
  std::set<Reason> seen;
  for (const Row& row : kRows) {
    CAPTURE(std::string(name(row.reason)));
    CHECK(seen.insert(row.reason).second);
    for (const bool include_limits : {false, true}) {
      for (const bool has_deadline : {false, true}) {
        const bool expected = row.when == When::always ||
                              (row.when == When::without_deadline && !has_deadline) ||
                              (row.when == When::with_limits && include_limits);
        CHECK(is_deferred(row, include_limits, has_deadline) == expected);
      }
    }
  }
  CHECK(seen.size() == kReasonCount);
}

TEST_CASE("what is dropped, answered or left by its client is not deferred, whatever the reason") {
  for (const Row& row : kRows) {
    CAPTURE(std::string(name(row.reason)));
    for (const Outcome outcome :
         {Outcome::forwarded, Outcome::cached, Outcome::degraded, Outcome::deferred,
          Outcome::waiting, Outcome::dropped, Outcome::client_gone}) {
      CHECK_FALSE(jobs::is_deferred_for(row.reason, outcome, {.include_limits = true}));
    }
  }
}

TEST_CASE("with `when` prefer no refusal is deferred that the client does not prefer") {
  for (const Row& row : kRows) {
    CAPTURE(std::string(name(row.reason)));
    const auto is_deferred_with = [&](bool is_preferred) {
      return jobs::is_deferred_for(
          row.reason, row.outcome,
          {.when = config::DeferWhen::prefer, .is_preferred = is_preferred});
    };
    CHECK_FALSE(is_deferred_with(false));
    CHECK(is_deferred_with(true) == is_deferred(row, false, false));
  }
}

TEST_CASE("a request is deferred before it is tried by `when`, draining and its client's wish") {
  using enum config::DeferWhen;
  struct Case {
    config::DeferWhen when;
    bool is_draining, is_preferred, comes_first;
  };
  constexpr std::array<Case, 12> kCases{{
      {always, false, false, true},
      {always, false, true, true},
      {always, true, false, true},
      {always, true, true, true},
      {overloaded, false, false, false},
      {overloaded, false, true, false},
      {overloaded, true, false, true},
      {overloaded, true, true, true},
      {prefer, false, false, false},
      {prefer, false, true, true},
      {prefer, true, false, false},
      {prefer, true, true, true},
  }};
  for (const Case& one : kCases) {
    CAPTURE(int(one.when));
    CHECK(jobs::comes_first(one.when, one.is_draining, one.is_preferred) == one.comes_first);
  }
}

TEST_CASE("a client that only reads is told to come back only if it prefers that") {
  using http::Verb;
  using jobs::Deferrable;
  for (const Verb method : {Verb::post, Verb::put, Verb::patch, Verb::delete_, Verb::unknown})
    CHECK(jobs::deferrable(method) == Deferrable::yes);
  for (const Verb method : {Verb::get, Verb::head})
    CHECK(jobs::deferrable(method) == Deferrable::if_preferred);
  for (const Verb method : {Verb::connect, Verb::options, Verb::trace})
    CHECK(jobs::deferrable(method) == Deferrable::never);
}

TEST_CASE("a refusal is deferred as one, a failure as one") {
  // The deadline passed at the upstream; an upstream that fails is no reason to be denied for.
  CHECK_FALSE(jobs::is_deferred_for(Reason::deadline_expired, Outcome::error, {}));
  CHECK_FALSE(jobs::is_deferred_for(Reason::deadline_expired, Outcome::denied, {}));
  CHECK_FALSE(jobs::is_deferred_for(Reason::queue_full, Outcome::error, {}));
  CHECK_FALSE(jobs::is_deferred_for(Reason::circuit_open, Outcome::denied, {}));
}
