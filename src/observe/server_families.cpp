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
                           "1: the server is asked; 0: it is ejected, or its health checks fail, "
                           "and it is asked only when no other is up.");
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
        if (!upstream.health_check) return;
        for (std::size_t i = 0; i < server.checks.size(); ++i) {
          Labels with_result = labels;
          with_result.push_back({"result", std::string(name(static_cast<HealthCheckResult>(i)))});
          add_counter(checks, std::move(with_result), static_cast<double>(server.checks[i]));
        }
      });
  for (std::size_t u = 0; u < snapshot.upstreams.size(); ++u) {
    add_counter(shortages, {{"upstream", config.upstreams[u].name}},
                static_cast<double>(snapshot.upstreams[u].shortages));
  }
  std::vector<MetricFamily> result{std::move(up), std::move(in_flight), std::move(ejections)};
  if (!checks.metric.empty()) result.push_back(std::move(checks));
  result.push_back(std::move(shortages));
  return result;
}

}  // namespace spillway::observe
