#include "observe/tunnel_families.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "observe/metric_family.hpp"
#include "observe/tunnel_use.hpp"

namespace spillway::observe {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

std::string label(std::string_view text) { return std::string(text); }

// One counter a kind and result.
template <class Result, std::size_t N>
MetricFamily by_result(std::string name, std::string help, std::string result_label,
                       Workers workers, std::array<Counter, N> TunnelCounts::*counts) {
  MetricFamily family_of = family(std::move(name), MetricType::Counter, std::move(help));
  for (std::size_t kind = 0; kind < kTunnelKindCount; ++kind) {
    for (std::size_t result = 0; result < N; ++result) {
      std::uint64_t sum = 0;
      for (const WorkerMetrics* worker : workers)
        sum += (worker->gauges->tunnels[kind].*counts)[result].value();
      add_counter(family_of,
                  {{"kind", label(observe::name(static_cast<TunnelKind>(kind)))},
                   {result_label, label(observe::name(static_cast<Result>(result)))}},
                  static_cast<double>(sum));
    }
  }
  return family_of;
}

}  // namespace

std::vector<MetricFamily> tunnel_families(Workers workers) {
  MetricFamily open = family("spillway_tunnels", MetricType::Gauge,
                             "Upgraded connections and event streams now. They hold no slot; "
                             "limits.tunnels bounds their sum.");
  for (std::size_t kind = 0; kind < kTunnelKindCount; ++kind) {
    std::int64_t sum = 0;
    for (const WorkerMetrics* worker : workers) sum += worker->gauges->tunnels[kind].open.value();
    add_gauge(open, {{"kind", label(observe::name(static_cast<TunnelKind>(kind)))}},
              static_cast<double>(sum));
  }
  return {std::move(open),
          by_result<TunnelResult>(
              "spillway_tunnels_total",
              "Tunnels that were asked for: opened, refused (limits.tunnels, or a drain) or "
              "declined (the upstream did not switch protocols).",
              "result", workers, &TunnelCounts::asked),
          by_result<TunnelEnd>("spillway_tunnels_ended_total",
                               "Tunnels that are over: finished by their sides, broken, idle for "
                               "limits.tunnel_idle_timeout_ms, or stopped with the proxy.",
                               "how", workers, &TunnelCounts::ended)};
}

}  // namespace spillway::observe
