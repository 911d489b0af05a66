#include "simulate/model/deferral_rules.hpp"

#include <algorithm>

#include "base/outcome.hpp"
#include "jobs/deferral_rule.hpp"

namespace spillway::simulate {
namespace {

bool is_shadowed(const Scenario& scenario) {
  return scenario.config.upstreams[index(scenario.upstream)].overload.mode == config::Mode::shadow;
}

const config::Defer* defer_of_clients(const Scenario& scenario, const Clients& clients) {
  const auto& defer = scenario.config.routes[index(route_of(scenario, clients))].defer;
  return defer && !is_shadowed(scenario) ? &*defer : nullptr;
}

// How the proxy ends a request that it refuses for this reason.
Outcome outcome_of(Reason refusal) {
  switch (refusal) {
    case Reason::queue_timeout:
    case Reason::deadline_expired: return Outcome::expired;
    case Reason::evicted: return Outcome::evicted;
    case Reason::circuit_open:
    case Reason::upstream_unavailable: return Outcome::error;
    default: return Outcome::denied;
  }
}

}  // namespace

const config::Defer* defer_of(const Scenario& scenario, const Request& request) {
  return defer_of_clients(scenario, scenario.clients[request.demand.clients]);
}

bool is_deferred_first(const Scenario& scenario, const Request& request) {
  const config::Defer* const defer = defer_of(scenario, request);
  return defer != nullptr && !request.as_job && jobs::comes_first(defer->when, false, false);
}

bool is_deferred_for(const Scenario& scenario, const Request& request, Reason refusal) {
  const config::Defer* const defer = defer_of(scenario, request);
  if (defer == nullptr || request.as_job) return false;
  const bool takes_lag = scenario.defers_for_lag && defer->when != config::DeferWhen::prefer;
  if (refusal == Reason::event_loop_lag && takes_lag) return true;
  return jobs::is_deferred_for(refusal, outcome_of(refusal),
                               {.when = defer->when,
                                .include_limits = defer->include_limits,
                                .is_clients_deadline = request.by_clients_deadline});
}

bool has_deferral(const Scenario& scenario) {
  return std::ranges::any_of(scenario.clients, [&](const Clients& clients) {
    return defer_of_clients(scenario, clients) != nullptr;
  });
}

Scenario without_deferral(Scenario scenario) {
  for (config::Route& route : scenario.config.routes) route.defer.reset();
  return scenario;
}

}  // namespace spillway::simulate
