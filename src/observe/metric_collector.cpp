#include "observe/metric_collector.hpp"

#include <prometheus/text_serializer.h>

#include <array>
#include <cstdint>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "observe/metric_family.hpp"
#include "observe/signal_list.hpp"

namespace spillway::observe {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

// A refusal for one of these can happen in any configuration: shown from the start, at 0, so
// that the first one already shows as an increase.
constexpr std::array kCommonDenials{
    Reason::inflight_saturation, Reason::queue_saturation, Reason::queue_wait_risk,
    Reason::tail_latency,        Reason::event_loop_lag,   Reason::error_burst,
    Reason::queue_full,          Reason::deadline_expired, Reason::draining};

// What can turn an upstream OVERLOADED; likewise shown from the start.
constexpr std::array kEntryReasons{Reason::inflight_saturation, Reason::queue_saturation,
                                   Reason::queue_wait_risk,     Reason::tail_latency,
                                   Reason::event_loop_lag,      Reason::error_burst};

template <class List>
bool contains(const List& list, Reason reason) {
  for (const Reason each : list) {
    if (each == reason) return true;
  }
  return false;
}

std::string text(std::string_view view) { return std::string(view); }

// One scrape: collects from the same sources into families.
class Scrape {
 public:
  Scrape(const config::Config& config, const std::vector<const WorkerMetrics*>& workers,
         const Snapshot& snapshot)
      : config_(config), workers_(workers), snapshot_(snapshot) {}

  MetricFamily requests() const;
  MetricFamily responses() const;
  MetricFamily denied() const;
  MetricFamily transitions() const;
  MetricFamily signals() const;
  MetricFamily connections() const;
  MetricFamily event_loop_lag() const;

  // One histogram a class, merged over the workers.
  template <class Pick>
  MetricFamily class_histogram(std::string name, std::string help, Pick pick) const {
    MetricFamily result = family(std::move(name), MetricType::Histogram, std::move(help));
    for (std::size_t c = 0; c < config_.classes.size(); ++c) {
      HistogramSnapshot total;
      for (const WorkerMetrics* worker : workers_) {
        pick(*worker, ClassId(static_cast<std::uint8_t>(c))).add_to(total);
      }
      add_histogram(result, {{"class", config_.classes[c].name}}, total);
    }
    return result;
  }

  MetricFamily upstream_duration() const;

  // One counter a class, summed over the upstreams' gates.
  MetricFamily class_counter(std::string name, std::string help,
                             std::uint64_t dispatch::ClassTotals::*member) const {
    MetricFamily result = family(std::move(name), MetricType::Counter, std::move(help));
    for (std::size_t c = 0; c < config_.classes.size(); ++c) {
      std::uint64_t total = 0;
      for (const UpstreamSnapshot& upstream : snapshot_.upstreams) {
        total += upstream.classes[c].totals.*member;
      }
      add_counter(result, {{"class", config_.classes[c].name}}, static_cast<double>(total));
    }
    return result;
  }

  // One gauge an upstream.
  template <class Pick>
  MetricFamily upstream_gauge(std::string name, std::string help, Pick pick) const {
    MetricFamily result = family(std::move(name), MetricType::Gauge, std::move(help));
    for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
      add_gauge(result, {{"upstream", config_.upstreams[u].name}}, pick(snapshot_.upstreams[u]));
    }
    return result;
  }

  // One gauge an upstream and class.
  template <class Pick>
  MetricFamily queue_gauge(std::string name, std::string help, Pick pick) const {
    MetricFamily result = family(std::move(name), MetricType::Gauge, std::move(help));
    for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
      for (std::size_t c = 0; c < config_.classes.size(); ++c) {
        add_gauge(result,
                  {{"upstream", config_.upstreams[u].name}, {"class", config_.classes[c].name}},
                  pick(snapshot_.upstreams[u].classes[c]));
      }
    }
    return result;
  }

 private:
  template <class Read>
  std::uint64_t sum(Read read) const {
    std::uint64_t total = 0;
    for (const WorkerMetrics* worker : workers_) total += read(*worker);
    return total;
  }

  const config::Config& config_;
  const std::vector<const WorkerMetrics*>& workers_;
  const Snapshot& snapshot_;
};

MetricFamily Scrape::requests() const {
  struct Row {
    std::array<std::uint64_t, kOutcomeCount> counts{};
    bool always = false;  // a combination that the configuration names
  };
  // Rows of one name are added up: two samples with the same labels would void the page.
  std::map<std::pair<std::string_view, std::size_t>, Row> rows;
  const auto label = [&](std::size_t slot) -> std::string_view {
    return slot < kMaxRouteLabels ? std::string_view(config_.routes[slot].name) : "other";
  };
  for (std::size_t r = 0; r < config_.routes.size(); ++r) {
    const config::Route& route = config_.routes[r];
    if (!route.priority) {
      rows[{label(std::min(r, kMaxRouteLabels)), index(route.traffic_class)}].always = true;
    }
  }
  const std::size_t slots = std::min(config_.routes.size(), kMaxRouteLabels + 1);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    for (std::size_t c = 0; c < config_.classes.size(); ++c) {
      for (std::size_t o = 0; o < kOutcomeCount; ++o) {
        const std::uint64_t count = sum([&](const WorkerMetrics& worker) {
          return worker.finished(slot, ClassId(static_cast<std::uint8_t>(c)),
                                 static_cast<Outcome>(o));
        });
        if (count != 0) rows[{label(slot), c}].counts[o] += count;
      }
    }
  }

  MetricFamily result = family(
      "spillway_requests_total", MetricType::Counter,
      "Requests by how they ended; each request counts in exactly one outcome. Watch denied, "
      "expired and evicted of the highest class.");
  for (const auto& [key, row] : rows) {
    for (std::size_t o = 0; o < kOutcomeCount; ++o) {
      if (row.counts[o] == 0 && !row.always) continue;
      add_counter(result,
                  {{"route", text(key.first)},
                   {"class", config_.classes[key.second].name},
                   {"outcome", text(name(static_cast<Outcome>(o)))}},
                  static_cast<double>(row.counts[o]));
    }
  }
  return result;
}

MetricFamily Scrape::responses() const {
  MetricFamily result =
      family("spillway_responses_total", MetricType::Counter,
             "Responses by the status code that the client saw, Spillway's own answers included.");
  for (std::size_t c = 0; c < config_.classes.size(); ++c) {
    for (std::size_t s = 0; s <= WorkerMetrics::kOtherStatus; ++s) {
      const std::uint64_t count = sum([&](const WorkerMetrics& worker) {
        return worker.responses(ClassId(static_cast<std::uint8_t>(c)))[s].value();
      });
      if (count == 0) continue;
      const std::string code = s == WorkerMetrics::kOtherStatus
                                   ? "other"
                                   : std::to_string(WorkerMetrics::kFirstStatus + s);
      add_counter(result, {{"class", config_.classes[c].name}, {"code", code}},
                  static_cast<double>(count));
    }
  }
  return result;
}

MetricFamily Scrape::denied() const {
  MetricFamily result =
      family("spillway_denied_total", MetricType::Counter,
             "Requests refused by the reason the client was given; a signal's name means the "
             "overload rules refused, QUEUE_FULL a full class queue, QUEUE_WAIT_RISK a wait "
             "predicted to be too long.");
  for (std::size_t c = 0; c < config_.classes.size(); ++c) {
    for (std::size_t r = 1; r < kReasonCount; ++r) {
      const auto reason = static_cast<Reason>(r);
      const std::uint64_t count = sum([&](const WorkerMetrics& worker) {
        return worker.denials(ClassId(static_cast<std::uint8_t>(c)), reason);
      });
      if (count == 0 && !contains(kCommonDenials, reason)) continue;
      add_counter(result, {{"class", config_.classes[c].name}, {"reason", text(name(reason))}},
                  static_cast<double>(count));
    }
  }
  return result;
}

MetricFamily Scrape::upstream_duration() const {
  MetricFamily result =
      family("spillway_upstream_duration_seconds", MetricType::Histogram,
             "Time from sending a request to the upstream until its response head: the "
             "backend's own latency, without Spillway's queue.");
  for (std::size_t u = 0; u < config_.upstreams.size(); ++u) {
    HistogramSnapshot total;
    for (const WorkerMetrics* worker : workers_) {
      worker->upstream_durations(UpstreamId(static_cast<std::uint16_t>(u))).add_to(total);
    }
    add_histogram(result, {{"upstream", config_.upstreams[u].name}}, total);
  }
  return result;
}

MetricFamily Scrape::transitions() const {
  MetricFamily result =
      family("spillway_overload_transitions_total", MetricType::Counter,
             "Changes of an upstream's overload state, by the state entered and the signal that "
             "caused it. Many in a short time: the enter and exit thresholds are too close.");
  for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
    std::map<std::pair<overload::State, Reason>, std::uint64_t> counts;
    for (const Reason reason : kEntryReasons) counts[{overload::State::overloaded, reason}] = 0;
    for (const TransitionCount& each : snapshot_.upstreams[u].transitions) {
      counts[{each.to, each.reason}] += each.count;
    }
    for (const auto& [key, count] : counts) {
      add_counter(result,
                  {{"upstream", config_.upstreams[u].name},
                   {"to", text(overload::name(key.first))},
                   {"reason", text(name(key.second))}},
                  static_cast<double>(count));
    }
  }
  return result;
}

MetricFamily Scrape::signals() const {
  MetricFamily result =
      family("spillway_signal", MetricType::Gauge,
             "The overload signals as last judged: ratios from 0, times in seconds, rates per "
             "second. A signal without enough samples is absent.");
  for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
    const std::string& upstream = config_.upstreams[u].name;
    const overload::OverloadSignals& signals = snapshot_.upstreams[u].signals;
    const auto add = [&](std::string_view label, double value) {
      add_gauge(result, {{"upstream", upstream}, {"name", text(label)}}, value);
    };
    for (const NamedSignal& signal : signal_list(signals, config_.upstreams[u].overload)) {
      if (signal.value) add(signal.label, *signal.value);
    }
    add("offered_rate", signals.offered_rate);
    add("admitted_rate", signals.admitted_rate);
    add("completed_rate", signals.completed_rate);
  }
  return result;
}

MetricFamily Scrape::connections() const {
  MetricFamily result = family("spillway_connections", MetricType::Gauge,
                               "Open connections: side client (to us) and upstream (from us, "
                               "idle ones included).");
  std::int64_t client = 0;
  std::int64_t upstream = 0;
  for (const WorkerMetrics* worker : workers_) {
    client += worker->client_connections.value();
    upstream += worker->upstream_connections.value();
  }
  add_gauge(result, {{"side", "client"}}, static_cast<double>(client));
  add_gauge(result, {{"side", "upstream"}}, static_cast<double>(upstream));
  return result;
}

MetricFamily Scrape::event_loop_lag() const {
  MetricFamily result =
      family("spillway_event_loop_lag_seconds", MetricType::Gauge,
             "How late a 10 ms timer fires on a worker, 90th percentile of the last second. High "
             "values mean that Spillway itself lacks CPU.");
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    add_gauge(result, {{"worker", std::to_string(w)}}, to_seconds(workers_[w]->event_loop_lag()));
  }
  return result;
}

}  // namespace

MetricCollector::MetricCollector(const config::Config& config,
                                 std::vector<const WorkerMetrics*> workers,
                                 std::function<Snapshot()> snapshot, BuildInfo build)
    : config_(config),
      workers_(std::move(workers)),
      snapshot_(std::move(snapshot)),
      build_(std::move(build)) {}

std::vector<MetricFamily> MetricCollector::Collect() const {
  const Snapshot snapshot = snapshot_();
  const Scrape scrape(config_, workers_, snapshot);

  MetricFamily log_dropped =
      family("spillway_log_dropped_total", MetricType::Counter,
             "Log lines lost because stderr was slower than the log; workers never wait for it.");
  add_counter(log_dropped, {}, static_cast<double>(snapshot.log_dropped));
  MetricFamily build =
      family("spillway_build_info", MetricType::Gauge, "Always 1; the labels say what is running.");
  add_gauge(build, {{"version", build_.version}, {"compiler", build_.compiler}}, 1);

  return {
      scrape.requests(),
      scrape.responses(),
      scrape.denied(),
      scrape.class_histogram(
          "spillway_request_duration_seconds",
          "Time from the request head until the end of the answer, as the client sees it.",
          [](const WorkerMetrics& worker, ClassId c) -> auto& {
            return worker.request_durations(c);
          }),
      scrape.upstream_duration(),
      scrape.class_histogram(
          "spillway_queue_wait_seconds",
          "Time that requests waited for a slot, 0 for those that found one free.",
          [](const WorkerMetrics& worker, ClassId c) -> auto& { return worker.queue_waits(c); }),
      scrape.class_histogram(
          "spillway_wait_prediction_error_seconds",
          "Difference between the wait predicted on arrival and the real one. "
          "Large values make QUEUE_WAIT_RISK refusals doubtful.",
          [](const WorkerMetrics& worker, ClassId c) -> auto& {
            return worker.wait_prediction_errors(c);
          }),
      scrape.class_counter("spillway_enqueued_total", "Requests that entered a queue.",
                           &dispatch::ClassTotals::enqueued),
      scrape.class_counter("spillway_started_total", "Requests that were given a slot.",
                           &dispatch::ClassTotals::started),
      scrape.class_counter("spillway_queue_full_total",
                           "Requests refused because their class's queue was full.",
                           &dispatch::ClassTotals::queue_full),
      scrape.class_counter("spillway_expired_total",
                           "Requests whose deadline had already passed when they arrived.",
                           &dispatch::ClassTotals::expired),
      scrape.class_counter("spillway_deadline_miss_total",
                           "Requests whose deadline passed while they were queued.",
                           &dispatch::ClassTotals::deadline_miss),
      scrape.queue_gauge("spillway_queue_depth", "Requests waiting for a slot now.",
                         [](const ClassSnapshot& c) { return static_cast<double>(c.queued); }),
      scrape.queue_gauge("spillway_oldest_wait_seconds",
                         "How long the oldest waiter of the class has been queued; growing while "
                         "other classes are served means starvation.",
                         [](const ClassSnapshot& c) { return to_seconds(c.oldest_wait); }),
      scrape.upstream_gauge(
          "spillway_inflight", "Requests holding a slot of the upstream now.",
          [](const UpstreamSnapshot& u) { return static_cast<double>(u.inflight); }),
      scrape.upstream_gauge(
          "spillway_concurrency_limit", "Slots of the upstream: what spillway_inflight may reach.",
          [](const UpstreamSnapshot& u) { return static_cast<double>(u.concurrency_limit); }),
      scrape.upstream_gauge(
          "spillway_overload_state",
          "0 NORMAL, 1 ELEVATED, 2 OVERLOADED, 3 CRITICAL; from 2 on the class rules refuse work.",
          [](const UpstreamSnapshot& u) { return static_cast<double>(index(u.state)); }),
      scrape.transitions(),
      scrape.signals(),
      scrape.event_loop_lag(),
      scrape.connections(),
      std::move(log_dropped),
      std::move(build),
  };
}

std::string to_text(const prometheus::Collectable& collectable) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, collectable.Collect());
  return std::move(out).str();
}

}  // namespace spillway::observe
