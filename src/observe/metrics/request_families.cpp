// The section of /metrics on requests, by class, route, outcome and reason.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "config/choices.hpp"
#include "observe/metrics/families.hpp"

namespace spillway::observe {
namespace {

using prometheus::MetricFamily;

// Refusals for these reasons can happen in any configuration: shown from the start, at 0, so that
// the first one already shows as an increase.
constexpr std::array kCommonDenials{Reason::inflight_saturation, Reason::queue_saturation,
                                    Reason::queue_wait_risk,     Reason::tail_latency,
                                    Reason::event_loop_lag,      Reason::error_burst,
                                    Reason::queue_full,          Reason::deadline_expired,
                                    Reason::tunnel_limit,        Reason::draining};

// Likewise for proxy errors.
constexpr std::array kCommonErrors{Reason::deadline_expired, Reason::upstream_unavailable,
                                   Reason::upstream_timeout, Reason::upstream_invalid,
                                   Reason::bad_request,      Reason::request_timeout,
                                   Reason::slow_client,      Reason::local_shortage};

MetricFamily requests(const config::Config& config, Workers workers) {
  struct Row {
    std::array<std::uint64_t, kOutcomeCount> counts{};
    bool always = false;  // a combination that occurs in the configuration
  };
  // Rows with the same name are added up: two samples with equal labels make the page invalid.
  std::map<std::pair<std::string_view, std::size_t>, Row> rows;
  const auto route_label = [&](std::size_t slot) -> std::string_view {
    return slot < kMaxRouteLabels ? std::string_view(config.routes[slot].name) : "other";
  };
  for (std::size_t r = 0; r < config.routes.size(); ++r) {
    const config::Route& route = config.routes[r];
    if (!route.priority && !route.priority_by_cost)
      rows[{route_label(r), index(route.traffic_class)}].always = true;
  }
  const std::size_t slots = std::min(config.routes.size(), kMaxRouteLabels + 1);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    for (std::size_t c = 0; c < config.classes.size(); ++c) {
      for (std::size_t o = 0; o < kOutcomeCount; ++o) {
        const std::uint64_t count = sum(workers, [&](const WorkerMetrics& worker) {
          return worker.finished(slot, ClassId(static_cast<std::uint8_t>(c)),
                                 static_cast<Outcome>(o));
        });
        if (count != 0) rows[{route_label(slot), c}].counts[o] += count;
      }
    }
  }

  MetricFamily result =
      counter("spillway_requests_total",
              "Requests by how they ended; each request counts in exactly one outcome. Watch "
              "denied, expired and evicted of the highest class.");
  for (const auto& [key, row] : rows) {
    for (std::size_t o = 0; o < kOutcomeCount; ++o) {
      if (row.counts[o] == 0 && !row.always) continue;
      add_sample(result,
                 {label("route", key.first), label("class", config.classes[key.second].name),
                  label("outcome", name(static_cast<Outcome>(o)))},
                 row.counts[o]);
    }
  }
  return result;
}

MetricFamily responses(const config::Config& config, Workers workers) {
  MetricFamily result =
      counter("spillway_responses_total",
              "Responses by the status code that the client saw, Spillway's own answers included.");
  for (std::size_t c = 0; c < config.classes.size(); ++c) {
    for (std::size_t s = 0; s <= WorkerMetrics::kOtherStatus; ++s) {
      const std::uint64_t count = sum(workers, [&](const WorkerMetrics& worker) {
        return worker.responses(ClassId(static_cast<std::uint8_t>(c)))[s].value();
      });
      if (count == 0) continue;
      const std::string code = s == WorkerMetrics::kOtherStatus
                                   ? "other"
                                   : std::to_string(WorkerMetrics::kFirstStatus + s);
      add_sample(result, {label("class", config.classes[c].name), label("code", code)}, count);
    }
  }
  return result;
}

// One counter for each class and reason. The reasons in `always` are shown from the start, at 0.
template <class Read>
void add_by_reason(MetricFamily& result, const config::Config& config, Workers workers,
                   std::span<const Reason> always, const Labels& more, Read read) {
  for (std::size_t c = 0; c < config.classes.size(); ++c) {
    for (std::size_t r = 1; r < kReasonCount; ++r) {
      const auto reason = static_cast<Reason>(r);
      const std::uint64_t count = sum(workers, [&](const WorkerMetrics& worker) {
        return read(worker, ClassId(static_cast<std::uint8_t>(c)), reason);
      });
      if (count == 0 && std::find(always.begin(), always.end(), reason) == always.end()) continue;
      Labels labels{{"class", config.classes[c].name}};
      labels.insert(labels.end(), more.begin(), more.end());
      add_sample(result, with(std::move(labels), "reason", name(reason)), count);
    }
  }
}

MetricFamily denied(const config::Config& config, Workers workers) {
  MetricFamily result =
      counter("spillway_denied_total",
              "Requests refused by the reason the client was given; a signal's name means the "
              "overload rules refused, QUEUE_FULL a full class queue, QUEUE_WAIT_RISK a wait "
              "predicted to be too long, BUDGET_EXCEEDED and TENANT_SHARE (429) the caller's own "
              "share.");
  add_by_reason(result, config, workers, kCommonDenials, {}, std::mem_fn(&WorkerMetrics::denials));
  return result;
}

MetricFamily errors(const config::Config& config, Workers workers) {
  MetricFamily result =
      counter("spillway_errors_total",
              "Requests that ended in a proxy error, by reason, refusals by open circuits "
              "(CIRCUIT_OPEN) among them: together those of spillway_requests_total with outcome "
              "error.");
  std::vector<Reason> always(kCommonErrors.begin(), kCommonErrors.end());
  if (std::ranges::any_of(config.upstreams,
                          [](const auto& each) { return each.circuit_breaker.has_value(); }))
    always.push_back(Reason::circuit_open);
  add_by_reason(result, config, workers, always, {}, std::mem_fn(&WorkerMetrics::errors));
  return result;
}

MetricFamily shadowed(const config::Config& config, Workers workers) {
  MetricFamily result =
      counter("spillway_shadow_total",
              "Requests that were forwarded only because their upstream's overload mode is shadow, "
              "by how they would have ended otherwise.");
  for (const Outcome outcome :
       {Outcome::degraded, Outcome::denied, Outcome::dropped, Outcome::expired, Outcome::evicted}) {
    add_by_reason(result, config, workers, {}, {label("outcome", name(outcome))},
                  [&](const WorkerMetrics& worker, ClassId c, Reason reason) {
                    return worker.in_shadow(c, outcome, reason);
                  });
  }
  return result;
}

MetricFamily degraded(const config::Config& config, Workers workers) {
  MetricFamily result = counter("spillway_degraded_total",
                                "Requests answered with less than asked for, by mode and reason.");
  for (const auto& mode : config::kChoices<config::DegradeMode>) {
    add_by_reason(result, config, workers, {}, {label("mode", mode.name)},
                  [&](const WorkerMetrics& worker, ClassId c, Reason reason) {
                    return worker.degradations(c, mode.value, reason);
                  });
  }
  return result;
}

// One histogram for each of `entries` (classes or upstreams), labelled with its name.
template <class Id, class Entry>
MetricFamily histogram(std::string metric, std::string help, const char* of_what,
                       const std::vector<Entry>& entries, Workers workers,
                       const DurationHistogram& (WorkerMetrics::*of)(Id) const) {
  MetricFamily result{std::move(metric), std::move(help), prometheus::MetricType::Histogram, {}};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    HistogramSnapshot total;
    for (const WorkerMetrics* worker : workers) {
      (worker->*of)(Id(static_cast<std::underlying_type_t<Id>>(i))).add_to(total);
    }
    add_histogram(result, {label(of_what, entries[i].name)}, total);
  }
  return result;
}

MetricFamily connections(Workers workers) {
  MetricFamily result =
      gauge("spillway_connections",
            "Open connections: side client (to us) and upstream (from us, idle ones included).");
  result = of_all(workers, std::move(result), &WorkerGauges::client_connections,
                  {label("side", "client")});
  return of_all(workers, std::move(result), &WorkerGauges::upstream_connections,
                {label("side", "upstream")});
}

MetricFamily accepted(Workers workers) {
  MetricFamily result =
      counter("spillway_requests_accepted_total",
              "Requests whose head has come. While none is running it is the sum of "
              "spillway_requests_total, but for routes and classes that a reload took away.");
  add_sample(result, {}, sum(workers, std::mem_fn(&WorkerMetrics::accepted)));
  return result;
}

MetricFamily event_loop_lag(Workers workers) {
  MetricFamily result =
      gauge("spillway_event_loop_lag_seconds",
            "How long new requests wait until a worker begins them, the least of the last 200 ms; "
            "or how late its 10 ms timer fires, 90th percentile of the last second, if that is "
            "more. High values mean that Spillway itself lacks CPU.");
  for (std::size_t w = 0; w < workers.size(); ++w) {
    add_sample(result, {label("worker", std::to_string(w))},
               to_seconds(workers[w]->gauges->event_loop_lag()));
  }
  return result;
}

MetricFamily event_loop_use(Workers workers) {
  MetricFamily result =
      gauge("spillway_event_loop_use_ratio",
            "Part of the time that a worker's thread ran, over about a second. A lag beside a low "
            "one means that something else takes the CPU.");
  for (std::size_t w = 0; w < workers.size(); ++w) {
    add_sample(result, {label("worker", std::to_string(w))}, workers[w]->gauges->event_loop_use());
  }
  return result;
}

}  // namespace

Families request_families(const config::Config& config, Workers workers) {
  return {
      accepted(workers),
      requests(config, workers),
      responses(config, workers),
      denied(config, workers),
      errors(config, workers),
      degraded(config, workers),
      shadowed(config, workers),
      histogram("spillway_request_duration_seconds",
                "Time from the request head until the end of the answer, as the client sees it.",
                "class", config.classes, workers, &WorkerMetrics::request_durations),
      histogram("spillway_upstream_duration_seconds",
                "Time from sending a request to the upstream until its response head: the "
                "backend's own latency, without Spillway's queue.",
                "upstream", config.upstreams, workers, &WorkerMetrics::upstream_durations),
      histogram("spillway_queue_wait_seconds",
                "Time that requests waited for a slot, 0 for those that found one free.", "class",
                config.classes, workers, &WorkerMetrics::queue_waits),
      histogram("spillway_wait_prediction_error_seconds",
                "Difference between the wait predicted on arrival and the real one. Large values "
                "make QUEUE_WAIT_RISK refusals doubtful.",
                "class", config.classes, workers, &WorkerMetrics::wait_prediction_errors),
      connections(workers),
      event_loop_lag(workers),
      event_loop_use(workers),
  };
}

}  // namespace spillway::observe
