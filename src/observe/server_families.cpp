#include "observe/server_families.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "observe/metric_family.hpp"

namespace spillway::observe {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

// Calls `each` with the labels and the snapshot of every server.
template <class Each>
void for_each_server(const config::Config& config, const Snapshot& snapshot, Each each) {
  for (std::size_t u = 0; u < snapshot.upstreams.size(); ++u) {
    const config::Upstream& upstream = config.upstreams[u];
    for (std::size_t s = 0; s < snapshot.upstreams[u].servers.size(); ++s) {
      each(upstream, Labels{{"upstream", upstream.name}, {"server", upstream.servers[s]}},
           snapshot.upstreams[u].servers[s]);
    }
  }
}

}  // namespace

std::vector<MetricFamily> server_families(const config::Config& config, const Snapshot& snapshot) {
  MetricFamily up = family("spillway_server_up", MetricType::Gauge,
                           "0: the server is ejected, or its health checks fail, and it is asked "
                           "only when no other is up. 1: it is asked as others are, which does not "
                           "say that it works: one that fails stays 1 while no more servers may be "
                           "ejected (ejection.max_ejected_ratio; a single one never is).");
  MetricFamily failing = family(
      "spillway_server_consecutive_failures", MetricType::Gauge,
      "Failures of the server in a row, over all workers; 0 after a success. It goes on counting "
      "where the server cannot be ejected. A failing server, whatever spillway_server_up says: 5 "
      "and more.");
  MetricFamily failures = family(
      "spillway_server_failures_total", MetricType::Counter,
      "Failures of the server by kind, those that a retry or another server mended included; not "
      "those of health checks. A kept connection that turns out closed and is replaced is none.");
  MetricFamily circuits = family(
      "spillway_server_circuit_open", MetricType::Gauge,
      "Workers whose circuit of this server is not closed, so that they ask it nothing or only try "
      "it; each worker judges for itself. Only where circuit_breaker is configured.");
  MetricFamily live = family(
      "spillway_upstream_live", MetricType::Gauge,
      "0: the last request or check could connect to no server of the upstream, or all of them are "
      "ejected or unwell. While all upstreams are 0, /readyz answers 503.");
  MetricFamily in_flight = family("spillway_server_inflight", MetricType::Gauge,
                                  "Connections to the server that are made or in use now.");
  MetricFamily ejections =
      family("spillway_server_ejections_total", MetricType::Counter,
             "Times the server was left out because it failed several times in a row.");
  MetricFamily checks = family("spillway_health_checks_total", MetricType::Counter,
                               "Health checks of the server by result; skipped ones were not made "
                               "for want of descriptors or ports, and say nothing of it.");
  MetricFamily shortages =
      family("spillway_local_shortages_total", MetricType::Counter,
             "Requests answered 503 because Spillway had no descriptor, port or memory left for a "
             "connection to the upstream. More than 0: raise the limit of open files.");
  for_each_server(
      config, snapshot,
      [&](const config::Upstream& upstream, const Labels& labels, const ServerSnapshot& server) {
        add_gauge(up, labels, server.is_up ? 1 : 0);
        add_gauge(in_flight, labels, server.in_flight);
        add_counter(ejections, labels, static_cast<double>(server.ejections));
        add_gauge(failing, labels, server.failures_in_a_row);
        for (std::size_t i = 0; i < server.failures.size(); ++i) {
          Labels with_kind = labels;
          with_kind.push_back({"kind", std::string(name(static_cast<ServerFailure>(i)))});
          add_counter(failures, std::move(with_kind), static_cast<double>(server.failures[i]));
        }
        if (upstream.circuit_breaker) add_gauge(circuits, labels, server.open_circuits);
        if (!upstream.health_check) return;
        for (std::size_t i = 0; i < server.checks.size(); ++i) {
          Labels with_result = labels;
          with_result.push_back({"result", std::string(name(static_cast<HealthCheckResult>(i)))});
          add_counter(checks, std::move(with_result), static_cast<double>(server.checks[i]));
        }
      });
  for (std::size_t u = 0; u < snapshot.upstreams.size(); ++u) {
    add_gauge(live, {{"upstream", config.upstreams[u].name}},
              snapshot.upstreams[u].is_live ? 1 : 0);
    add_counter(shortages, {{"upstream", config.upstreams[u].name}},
                static_cast<double>(snapshot.upstreams[u].shortages));
  }
  std::vector<MetricFamily> result{std::move(live),    std::move(up),       std::move(in_flight),
                                   std::move(failing), std::move(failures), std::move(ejections)};
  if (!circuits.metric.empty()) result.push_back(std::move(circuits));
  if (!checks.metric.empty()) result.push_back(std::move(checks));
  result.push_back(std::move(shortages));
  return result;
}

}  // namespace spillway::observe
