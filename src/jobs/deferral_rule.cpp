#include "jobs/deferral_rule.hpp"

namespace spillway::jobs {

// Without a default: a new reason must be decided here.
bool is_deferred_for(Reason reason, Outcome outcome, const DeferralTerms& terms) {
  if (terms.when == config::DeferWhen::prefer && !terms.is_preferred) return false;
  const bool is_refused =
      outcome == Outcome::denied || outcome == Outcome::expired || outcome == Outcome::evicted;
  switch (reason) {
    case Reason::inflight_saturation:
    case Reason::queue_saturation:
    case Reason::queue_wait_risk:
    case Reason::tail_latency:
    case Reason::error_burst:
    case Reason::shedding_does_not_help:
    case Reason::queue_full:
    case Reason::queue_timeout:
    case Reason::evicted: return is_refused;
    case Reason::deadline_expired: return outcome == Outcome::expired && !terms.is_clients_deadline;
    case Reason::circuit_open:
    case Reason::local_shortage:
    case Reason::upstream_unavailable:
    case Reason::upstream_timeout: return outcome == Outcome::error;
    case Reason::budget_exceeded:
    case Reason::tenant_share: return is_refused && terms.include_limits;
    case Reason::event_loop_lag:  // deferring a request costs more CPU than refusing it
    case Reason::none:
    case Reason::tunnel_limit:
    case Reason::upstream_invalid:
    case Reason::client_gone:
    case Reason::draining:  // of a tunnel: other requests are deferred before
    case Reason::bad_request:
    case Reason::idempotency_conflict:
    case Reason::idempotency_mismatch:
    case Reason::request_timeout:
    case Reason::slow_client:
    case Reason::not_stored:
    case Reason::response_too_large:
    case Reason::store_unavailable:
    case Reason::store_full:
    case Reason::waiting_room:
    case Reason::poll_limit:
    case Reason::join_limit:
    case Reason::work_required: return false;
  }
  return false;
}

}  // namespace spillway::jobs
