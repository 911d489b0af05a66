#include "observe/client_families.hpp"

#include <cstdint>

#include "observe/metric_family.hpp"
#include "observe/worker_metrics.hpp"

namespace spillway::observe {

using prometheus::MetricFamily;
using prometheus::MetricType;

std::vector<MetricFamily> client_families(Workers workers, const Snapshot& snapshot) {
  std::vector<MetricFamily> result;
  const ListenerSnapshot& listener = snapshot.listener;
  MetricFamily& limit = result.emplace_back(
      family("spillway_connections_limit", MetricType::Gauge,
             "Client connections at a time beyond which accepting pauses: limits.connections, or "
             "fewer where the limit of open files has no room for so many."));
  add_gauge(limit, {}, static_cast<double>(listener.most_connections));

  MetricFamily& refused = result.emplace_back(family(
      "spillway_connections_refused_total", MetricType::Counter,
      "Client connections closed as soon as they were accepted: their address had as many as "
      "limits.connections_per_address allows."));
  add_counter(refused, {{"reason", "address"}}, static_cast<double>(listener.refused_by_address));

  MetricFamily& pauses = result.emplace_back(
      family("spillway_accept_pauses_total", MetricType::Counter,
             "Times that accepting paused, clients waiting in the backlog: there were "
             "limits.connections of them, or no file descriptors were left."));
  add_counter(pauses, {{"reason", "connections"}},
              static_cast<double>(listener.pauses_for_connections));
  add_counter(pauses, {{"reason", "descriptors"}},
              static_cast<double>(listener.pauses_for_descriptors));

  std::uint64_t bodies = 0;
  std::uint64_t takers = 0;
  for (const WorkerMetrics* worker : workers) {
    bodies += worker->gauges->too_slow_bodies.value();
    takers += worker->gauges->too_slow_takers.value();
  }
  MetricFamily& slow = result.emplace_back(family(
      "spillway_slow_clients_total", MetricType::Counter,
      "Client connections ended for being slower than limits.min_rate_bytes, at sending a request "
      "body or at taking an answer."));
  add_counter(slow, {{"phase", "body"}}, static_cast<double>(bodies));
  add_counter(slow, {{"phase", "answer"}}, static_cast<double>(takers));
  return result;
}

}  // namespace spillway::observe
