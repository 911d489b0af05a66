// Which requests of a simulation are deferred: by the proxy's rule (jobs/deferral_rule.hpp).
// Requests to a route with `defer` count as unsafe ones (POST) without a preference; in shadow mode
// none is deferred.
#pragma once

#include "base/reason.hpp"
#include "config/defer.hpp"
#include "simulate/model/request.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

// The settings of the request's route; null: it has none.
const config::Defer* defer_of(const Scenario& scenario, const Request& request);

// The request is deferred whether there is room for it or not.
bool is_deferred_first(const Scenario& scenario, const Request& request);
// It is deferred instead of this refusal; none of it was sent. Not for a request that is dropped:
// its client gets no response.
bool is_deferred_for(const Scenario& scenario, const Request& request, Reason refusal);

// Whether any of the clients' routes has `defer`.
bool has_deferral(const Scenario& scenario);
// A copy of the scenario in which no request is deferred.
Scenario without_deferral(Scenario scenario);

}  // namespace spillway::simulate
