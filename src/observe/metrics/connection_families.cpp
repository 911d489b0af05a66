// The section of /metrics on connections, tunnels, slow clients and buffered bodies.
#include <array>
#include <utility>

#include "observe/count/tunnel_use.hpp"
#include "observe/metrics/families.hpp"

namespace spillway::observe {
namespace {

using prometheus::MetricFamily;

MetricFamily open_tunnels(Workers workers) {
  MetricFamily result = gauge("spillway_tunnels",
                              "Upgraded connections and event streams now. They hold no slot; "
                              "limits.tunnels bounds their sum.");
  for (std::size_t kind = 0; kind < kTunnelKindCount; ++kind) {
    add_sample(result, {label("kind", name(static_cast<TunnelKind>(kind)))},
               sum(workers, [&](const WorkerMetrics& worker) {
                 return worker.gauges->tunnels[kind].open.value();
               }));
  }
  return result;
}

// One counter for each kind of tunnel and result.
template <class Result, std::size_t N>
MetricFamily tunnels(MetricFamily result, const char* result_label, Workers workers,
                     std::array<Counter, N> TunnelCounts::*counts) {
  for (std::size_t kind = 0; kind < kTunnelKindCount; ++kind) {
    for (std::size_t r = 0; r < N; ++r) {
      add_sample(result,
                 {label("kind", name(static_cast<TunnelKind>(kind))),
                  label(result_label, name(static_cast<Result>(r)))},
                 sum(workers, [&](const WorkerMetrics& worker) {
                   return (worker.gauges->tunnels[kind].*counts)[r].value();
                 }));
    }
  }
  return result;
}

// The resources held by clients that are slow or gone.
Families slow_client_families(Workers workers) {
  using Gauges = WorkerGauges;
  MetricFamily no_file =
      counter("spillway_temp_files_unavailable_total",
              "Bodies of slow clients that could not go to a temporary file and hold their slot: "
              "limits.temp_file_bytes was reached, or the file could not be made or written.");
  no_file = of_all(workers, std::move(no_file), &Gauges::temp_files_over_limit,
                   {label("reason", "limit")});
  no_file =
      of_all(workers, std::move(no_file), &Gauges::temp_files_failed, {label("reason", "error")});

  MetricFamily taken_back =
      counter("spillway_slots_taken_back_total",
              "Requests ended while others waited for their slot: their clients were slower than "
              "limits.slot_rate_bytes, at sending a body or at taking an answer.");
  taken_back = of_all(workers, std::move(taken_back), &Gauges::slots_back_from_senders,
                      {label("phase", "body")});
  taken_back = of_all(workers, std::move(taken_back), &Gauges::slots_back_from_takers,
                      {label("phase", "answer")});

  return {
      of_all(workers,
             gauge("spillway_slots_awaiting_client",
                   "Slots whose request waits for its client: for more of its body, or until it "
                   "takes more of the response."),
             &Gauges::slots_awaiting_client),
      of_all(
          workers,
          gauge("spillway_body_buffer_bytes",
                "Memory for bodies that clients send or take slowly, and for answers of deferred "
                "requests; limits.buffer_bytes and half as much bound it."),
          &Gauges::buffered_bytes),
      of_all(workers,
             gauge("spillway_temp_file_bytes",
                   "Bytes in temporary files, of bodies that clients send or take slowly; "
                   "limits.temp_file_bytes bounds it."),
             &Gauges::temp_file_bytes),
      of_all(workers, counter("spillway_temp_files_total", "Temporary files that were made."),
             &Gauges::temp_files),
      std::move(no_file),
      std::move(taken_back),
      of_all(workers,
             gauge("spillway_abandoned_requests",
                   "Requests whose client left, whose deadline passed, or which timed out, that "
                   "keep their slot because the upstream may still be at work on them."),
             &Gauges::abandoned_calls),
  };
}

}  // namespace

Families connection_families(Workers workers, const Snapshot& snapshot) {
  const ListenerSnapshot& listener = snapshot.listener;
  MetricFamily limit =
      gauge("spillway_connections_limit",
            "Client connections at a time beyond which accepting pauses: limits.connections, or "
            "fewer where the limit of open files has no room for so many.");
  add_sample(limit, {}, listener.most_connections);

  MetricFamily refused = counter(
      "spillway_connections_refused_total",
      "Client connections closed as soon as they were accepted: their address had as many as "
      "limits.connections_per_address allows.");
  add_sample(refused, {label("reason", "address")}, listener.refused_by_address);

  MetricFamily pauses =
      counter("spillway_accept_pauses_total",
              "Times that accepting paused, clients waiting in the backlog: there were "
              "limits.connections of them, or no file descriptors were left.");
  add_sample(pauses, {label("reason", "connections")}, listener.pauses_for_connections);
  add_sample(pauses, {label("reason", "descriptors")}, listener.pauses_for_descriptors);

  MetricFamily slow = counter(
      "spillway_slow_clients_total",
      "Client connections ended for being slower than limits.min_rate_bytes, at sending a request "
      "body or at taking an answer, or for memory of a stored one or disk space that others need.");
  slow = of_all(workers, std::move(slow), &WorkerGauges::too_slow_bodies, {label("phase", "body")});
  slow =
      of_all(workers, std::move(slow), &WorkerGauges::too_slow_takers, {label("phase", "answer")});

  Families result{
      open_tunnels(workers),
      tunnels<TunnelResult>(
          counter("spillway_tunnels_total",
                  "Tunnels that were asked for: opened, refused (limits.tunnels, or a drain) "
                  "or declined (the upstream did not switch protocols, or streamed no events)."),
          "result", workers, &TunnelCounts::asked),
      tunnels<TunnelEnd>(counter("spillway_tunnels_ended_total",
                                 "Tunnels that are over: finished by their sides, broken, idle for "
                                 "limits.tunnel_idle_timeout_ms, or stopped with the proxy or with "
                                 "the session that had a resource."),
                         "how", workers, &TunnelCounts::ended),
      std::move(limit),
      std::move(refused),
      std::move(pauses),
      std::move(slow)};
  for (MetricFamily& each : slow_client_families(workers)) result.push_back(std::move(each));
  return result;
}

}  // namespace spillway::observe
