// Records how a request ended, in metrics.
#include "proxy/exchange/exchange.hpp"

namespace spillway::proxy {

namespace {

struct OutcomeOf {
  const Admission& admission;

  Outcome operator()(const Fault& fault) const { return fault.outcome; }
  Outcome operator()(UpstreamResponse) const { return unless_degraded(Outcome::forwarded); }
  Outcome operator()(ProtocolSwitch) const { return unless_degraded(Outcome::forwarded); }
  Outcome operator()(CachedResponse) const { return unless_degraded(Outcome::cached); }
  Outcome operator()(RouteFallback) const { return Outcome::degraded; }
  Outcome operator()(DeferredRequest) const { return Outcome::deferred; }
  Outcome operator()(JobReport) const { return unless_degraded(Outcome::cached); }
  Outcome operator()(JobEvents) const { return unless_degraded(Outcome::cached); }
  Outcome operator()(WaitingPage) const { return Outcome::waiting; }
  Outcome operator()(WaitingReport) const { return unless_degraded(Outcome::cached); }
  Outcome operator()(WaitingEvents) const { return unless_degraded(Outcome::cached); }

 private:
  Outcome unless_degraded(Outcome outcome) const {
    return admission.is_degraded() ? Outcome::degraded : outcome;
  }
};

}  // namespace

// Metrics and access log, once per request.
void Exchange::observe(const Answer& answer) {
  observe::WorkerMetrics& metrics = request_.metrics();
  const traffic::Classification& classification = request_.classification;
  const ClassId traffic_class = classification.traffic_class;
  const Fault* const fault = fault_in(answer);
  const Outcome outcome = by_kind(answer, OutcomeOf{admission_});
  const Duration duration = services_.now() - request_.arrived;
  metrics.finish(classification.route, traffic_class, outcome);
  metrics.request_duration(traffic_class, duration);
  if (session_.status() != 0) metrics.response(traffic_class, session_.status());
  const bool is_clients_own = fault != nullptr && fault->by_clients_deadline;
  if (outcome == Outcome::error || is_clients_own) {
    metrics.error(traffic_class, is_clients_own ? Reason::deadline_expired : fault->reason);
  } else if (fault != nullptr && fault->reason != Reason::none && outcome != Outcome::client_gone) {
    metrics.denied(traffic_class, fault->reason);
  }
  const overload::Verdict& verdict = admission_.verdict();
  if (outcome == Outcome::degraded) metrics.degraded(traffic_class, verdict.mode, verdict.reason);
  if (lookup_.status().has_cache) metrics.cache_lookup(classification.route, lookup_.result());
  if (const auto shadow = admission_.shadow_outcome())
    metrics.shadowed(traffic_class, *shadow, admission_.record().reason);
  if (is<DeferredRequest>(answer)) admission_.use_token();
  admission_.give_back_token();  // unless the request was sent to the upstream
  if (is_logged()) log_access(answer, outcome, duration);
}

// Metrics are no longer read by then.
void Exchange::log_unfinished() {
  if (is_logged()) log_access(process_ended(), Outcome::error, services_.now() - request_.arrived);
}

}  // namespace spillway::proxy
