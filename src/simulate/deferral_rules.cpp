#include "simulate/deferral_rules.hpp"

#include <algorithm>
#include <utility>

namespace spillway::simulate {
namespace {

bool is_shadowed(const Scenario& scenario) {
  return scenario.config.upstreams[index(scenario.upstream)].overload.mode == config::Mode::shadow;
}

const config::Defer* defer_of_clients(const Scenario& scenario, const Clients& clients) {
  const auto& defer = scenario.config.routes[index(route_of(scenario, clients))].defer;
  return defer && !is_shadowed(scenario) ? &*defer : nullptr;
}

// Room, or a healthy server, would have prevented it.
bool is_for_want_of_room(Reason refusal) {
  switch (refusal) {
    case Reason::none:
    case Reason::client_gone:
    case Reason::upstream_invalid: return false;
    default: return !is_callers_own(refusal);
  }
}

}  // namespace

const config::Defer* defer_of(const Scenario& scenario, const Request& request) {
  return defer_of_clients(scenario, scenario.clients[request.demand.clients]);
}

bool is_deferred_first(const Scenario& scenario, const Request& request) {
  const config::Defer* const defer = defer_of(scenario, request);
  return defer != nullptr && !request.as_job && defer->when == config::DeferWhen::always;
}

bool is_deferred_for(const Scenario& scenario, const Request& request, Reason refusal) {
  const config::Defer* const defer = defer_of(scenario, request);
  if (defer == nullptr || request.as_job || defer->when == config::DeferWhen::prefer) return false;
  if (defer->include_limits && is_callers_own(refusal)) return true;
  // The client's own deadline says that a later answer is of no use.
  if (refusal == Reason::deadline_expired && scenario.clients[request.demand.clients].deadline)
    return false;
  if (refusal == Reason::event_loop_lag && !scenario.defers_for_lag) return false;
  return is_for_want_of_room(refusal);
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
