// The metric families of a metrics page, with names, labels and help texts, section by section.
//
// Every series that can occur under the configuration exists from the start, with value 0.
#pragma once

#include "config/config.hpp"
#include "observe/metrics/metric_family.hpp"
#include "observe/snapshot/snapshot.hpp"

namespace spillway::observe {

// Requests, responses, refusals, errors, durations and waits; connections and event-loop lag.
Families request_families(const config::Config& config, Workers workers);

// By upstream and class: queues, slots, overload state, signals; then by upstream and server: up,
// requests in flight, failures, ejections, and circuits and health checks if configured.
Families upstream_families(const config::Config& config, const Snapshot& snapshot);

// By route with a cache; then retries by upstream.
Families cache_families(const config::Config& config, Workers workers, const Snapshot& snapshot);
prometheus::MetricFamily retries(const config::Config& config, Workers workers);

// Deferred requests; none if no route has `defer`.
Families job_families(const config::Config& config, const Snapshot& snapshot);

// Waiting rooms; none if no route has one.
Families waiting_families(const Snapshot& snapshot);

// Metrics that outlive configurations: tunnels, and clients that were refused or disconnected.
Families connection_families(Workers workers, const Snapshot& snapshot);

}  // namespace spillway::observe
