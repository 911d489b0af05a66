// The section of /metrics on upstreams: overload, slots, queues, servers, retries.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "observe/metrics/families.hpp"
#include "observe/snapshot/signal_list.hpp"

namespace spillway::observe {
namespace {

using prometheus::MetricFamily;

// Reasons for an upstream to leave NORMAL: shown from the start, at 0, so that the first time
// already shows as an increase.
constexpr std::array kEntryReasons{Reason::inflight_saturation, Reason::queue_saturation,
                                   Reason::queue_wait_risk,     Reason::tail_latency,
                                   Reason::event_loop_lag,      Reason::error_burst};

std::vector<State> states_above_normal(const config::Overload& overload) {
  if (overload.stages.empty()) return {State::overloaded};
  std::vector<State> states;
  for (const config::Stage& stage : overload.stages) states.push_back(stage.name);
  return states;
}

// A page for one configuration and one snapshot. by_...() add one sample each to a family.
class Page {
 public:
  Page(const config::Config& config, const Snapshot& snapshot)
      : config_(config), snapshot_(snapshot) {}

  // Summed over the upstreams.
  MetricFamily by_class(MetricFamily result, std::uint64_t dispatch::ClassTotals::*member) const {
    for (std::size_t c = 0; c < config_.classes.size(); ++c) {
      std::uint64_t total = 0;
      for (const UpstreamSnapshot& upstream : snapshot_.upstreams) {
        total += upstream.classes[c].totals.*member;
      }
      add_sample(result, {label("class", config_.classes[c].name)}, total);
    }
    return result;
  }

  template <class Read>
  MetricFamily by_queue(MetricFamily result, Read read) const {
    for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
      for (std::size_t c = 0; c < config_.classes.size(); ++c) {
        add_sample(
            result,
            {label("upstream", config_.upstreams[u].name), label("class", config_.classes[c].name)},
            read(snapshot_.upstreams[u].classes[c]));
      }
    }
    return result;
  }

  template <class Read>
  MetricFamily by_upstream(MetricFamily result, Read read) const {
    for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
      add_sample(result, {label("upstream", config_.upstreams[u].name)},
                 read(snapshot_.upstreams[u]));
    }
    return result;
  }

  // Has no samples if `is_shown` holds for no upstream.
  template <class Read>
  MetricFamily by_server(MetricFamily result, Read read,
                         bool (*is_shown)(const config::Upstream&) = nullptr) const {
    for_each_server(is_shown, [&](Labels labels, const ServerSnapshot& server) {
      add_sample(result, std::move(labels), read(server));
    });
    return result;
  }

  // A sample for each server and kind.
  template <class Kind, std::size_t N>
  MetricFamily by_kind(MetricFamily result, const char* kind_label,
                       std::array<std::uint64_t, N> ServerSnapshot::*counts,
                       bool (*is_shown)(const config::Upstream&) = nullptr) const {
    for_each_server(is_shown, [&](const Labels& labels, const ServerSnapshot& server) {
      for (std::size_t i = 0; i < N; ++i) {
        add_sample(result, with(labels, kind_label, name(static_cast<Kind>(i))),
                   (server.*counts)[i]);
      }
    });
    return result;
  }

  MetricFamily transitions() const;
  MetricFamily signals() const;
  MetricFamily errors_of_one_source() const;
  MetricFamily predicted_waits() const;
  MetricFamily shortages() const;

 private:
  template <class Each>
  void for_each_server(bool (*is_shown)(const config::Upstream&), Each each) const {
    for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
      const config::Upstream& upstream = config_.upstreams[u];
      if (is_shown != nullptr && !is_shown(upstream)) continue;
      for (std::size_t s = 0; s < snapshot_.upstreams[u].servers.size(); ++s) {
        each(Labels{label("upstream", upstream.name), label("server", upstream.servers[s])},
             snapshot_.upstreams[u].servers[s]);
      }
    }
  }

  const config::Config& config_;
  const Snapshot& snapshot_;
};

MetricFamily Page::transitions() const {
  MetricFamily result =
      counter("spillway_overload_transitions_total",
              "Changes of an upstream's overload state, by the state entered and the signal that "
              "caused it. Many in a short time: the enter and exit thresholds are too close.");
  for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
    std::map<std::pair<State, Reason>, std::uint64_t> counts;
    for (const State to : states_above_normal(config_.upstreams[u].overload)) {
      for (const Reason reason : kEntryReasons) counts[{to, reason}] = 0;
    }
    for (const TransitionCount& each : snapshot_.upstreams[u].transitions) {
      counts[{each.to, each.reason}] += each.count;
    }
    for (const auto& [key, count] : counts) {
      add_sample(result,
                 {label("upstream", config_.upstreams[u].name), label("to", name(key.first)),
                  label("reason", name(key.second))},
                 count);
    }
  }
  return result;
}

MetricFamily Page::predicted_waits() const {
  MetricFamily result =
      gauge("spillway_predicted_wait_seconds",
            "The wait predicted for a request that arrived now, by class; absent before 20 slots "
            "were given back. Its error: spillway_wait_prediction_error_seconds.");
  for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
    for (std::size_t c = 0; c < config_.classes.size(); ++c) {
      const auto predicted = snapshot_.upstreams[u].classes[c].predicted_wait;
      if (!predicted) continue;
      add_sample(
          result,
          {label("upstream", config_.upstreams[u].name), label("class", config_.classes[c].name)},
          to_seconds(*predicted));
    }
  }
  return result;
}

MetricFamily Page::shortages() const {
  MetricFamily result =
      counter("spillway_local_shortages_total",
              "Connections to the upstream that were not made since Spillway itself had none left "
              "of these; no server is blamed. descriptors: raise the limit of open files; ports: "
              "net.ipv4.ip_local_port_range, or more addresses of servers.");
  for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
    for (std::size_t i = 0; i < kLocalShortageCount; ++i) {
      add_sample(result,
                 {label("upstream", config_.upstreams[u].name),
                  label("kind", name(static_cast<LocalShortage>(i)))},
                 snapshot_.upstreams[u].shortages[i]);
    }
  }
  return result;
}

MetricFamily Page::errors_of_one_source() const {
  MetricFamily result =
      gauge("spillway_errors_of_one_source",
            "1: the upstream is in no state for ERROR_BURST only because the errors of one source "
            "of this kind do not count; /state and the log name it.");
  for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
    const overload::OverloadSignals& signals = snapshot_.upstreams[u].signals;
    for (std::size_t i = 0; i < overload::kSourceKinds; ++i) {
      const auto kind = static_cast<overload::SourceKind>(i);
      const bool is_it =
          signals.errors_of_one_source && signals.left_out && signals.left_out->kind == kind;
      add_sample(
          result,
          {label("upstream", config_.upstreams[u].name), label("source", overload::name(kind))},
          is_it ? 1 : 0);
    }
  }
  return result;
}

MetricFamily Page::signals() const {
  MetricFamily result =
      gauge("spillway_signal",
            "The overload signals as last judged: ratios from 0, times in seconds, rates per "
            "second. A signal without enough samples is absent.");
  for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
    const overload::OverloadSignals& signals = snapshot_.upstreams[u].signals;
    const auto add = [&](std::string_view name, double value) {
      add_sample(result, {label("upstream", config_.upstreams[u].name), label("name", name)},
                 value);
    };
    for (const NamedSignal& signal : signal_list(signals, {}, {})) {
      if (signal.value) add(signal.label, *signal.value);
    }
    if (signals.total_error_rate) add("total_error_rate", *signals.total_error_rate);
    add("offered_rate", signals.offered_rate);
    add("admitted_rate", signals.admitted_rate);
    add("completed_rate", signals.completed_rate);
  }
  return result;
}

Families queue_families(const Page& page) {
  using Totals = dispatch::ClassTotals;
  using Queue = ClassSnapshot;
  return {
      page.by_class(counter("spillway_enqueued_total", "Requests that entered a queue."),
                    &Totals::enqueued),
      page.by_class(counter("spillway_started_total", "Requests that were given a slot."),
                    &Totals::started),
      page.by_class(counter("spillway_queue_full_total",
                            "Requests refused because their class's queue was full."),
                    &Totals::queue_full),
      page.by_class(counter("spillway_expired_total",
                            "Requests whose deadline had already passed when they arrived."),
                    &Totals::expired),
      page.by_class(counter("spillway_deadline_miss_total",
                            "Requests whose deadline, their route's or their class's, passed "
                            "while they were queued; one that the client chose is among "
                            "spillway_errors_total."),
                    &Totals::deadline_miss),
      page.by_class(counter("spillway_downgraded_total",
                            "Requests moved from their class's queue to the next lower one after "
                            "their longest wait (expire_policy)."),
                    &Totals::downgraded),
      page.by_queue(gauge("spillway_queue_depth", "Requests waiting for a slot now."),
                    [](const Queue& c) { return c.queued; }),
      page.by_queue(gauge("spillway_oldest_wait_seconds",
                          "How long the oldest waiter of the class has been queued; growing "
                          "while other classes are served means starvation."),
                    [](const Queue& c) { return to_seconds(c.oldest_wait); }),
      page.predicted_waits(),
      page.by_queue(gauge("spillway_returns_booked_seconds",
                          "How far ahead Retry-After has refused requests of the class return, one "
                          "after the other. At 30 no more turns are given: Retry-After is 60 to "
                          "120 s."),
                    [](const Queue& c) { return to_seconds(c.returns_booked); }),
  };
}

// The values that regulate an upstream, and their current state.
Families regulation_families(const Page& page) {
  using Queue = ClassSnapshot;
  using Upstream = UpstreamSnapshot;
  return {
      page.by_upstream(gauge("spillway_inflight", "Requests holding a slot of the upstream now."),
                       [](const Upstream& u) { return u.inflight; }),
      page.by_upstream(
          gauge("spillway_concurrency_limit",
                "Slots of the upstream as configured: what spillway_effective_limit may "
                "reach."),
          [](const Upstream& u) { return u.concurrency_limit; }),
      page.by_upstream(gauge("spillway_effective_limit",
                             "Slots in use under regulation: what concurrency auto found, or below "
                             "spillway_concurrency_limit "
                             "while that keeps the tail latency under its threshold; without the "
                             "parts of servers that are lost."),
                       [](const Upstream& u) { return u.effective_limit; }),
      page.by_upstream(
          gauge("spillway_limit_at_max",
                "1: the limit that concurrency auto found has stood at spillway_concurrency_limit, "
                "its max, for a while, and more is offered: the upstream might do more."),
          [](const Upstream& u) { return int{u.is_limit_at_max}; }),
      page.by_upstream(gauge("spillway_newest_first",
                             "1 while the newest waiter of a class goes first instead of the "
                             "oldest (dispatch.overload_order)."),
                       [](const Upstream& u) { return int{u.newest_first}; }),
      page.by_upstream(gauge("spillway_target_wait_seconds",
                             "Wait up to which a class that overload rules would deny may still "
                             "queue; adapted so that slots do not idle meanwhile."),
                       [](const Upstream& u) { return to_seconds(u.target_wait); }),
      page.by_upstream(
          gauge("spillway_overload_state",
                "0 NORMAL, 1 ELEVATED, 2 OVERLOADED, 3 CRITICAL; from 2 on the class rules refuse "
                "work, at 1 only what that stage names."),
          [](const Upstream& u) { return index(u.state); }),
      page.by_upstream(
          gauge("spillway_shedding_does_not_help",
                "1 while the upstream is overloaded and neither refusing nor the "
                "limit brought the signal down (SHEDDING_DOES_NOT_HELP)."),
          [](const Upstream& u) { return int{u.reason == Reason::shedding_does_not_help}; }),
      page.by_queue(gauge("spillway_tenants_above_share",
                          "Tenants that ask for more than their fair share and are refused first."),
                    [](const Queue& c) { return c.above_share; }),
      page.by_queue(gauge("spillway_class_weight",
                          "What the class counts when slots are shared out, its dynamic boost "
                          "included."),
                    [](const Queue& c) { return c.weight; }),
      page.by_upstream(counter("spillway_dead_letters_total",
                               "Expired requests kept for a look at /state (expire_policy)."),
                       [](const Upstream& u) { return u.dead_letters_total; }),
      page.transitions(),
      page.signals(),
      page.errors_of_one_source(),
  };
}

Families server_families(const Page& page) {
  using Server = ServerSnapshot;
  return {
      page.by_upstream(
          gauge(
              "spillway_upstream_live",
              "0: the last request or check could connect to no server of the upstream, or all "
              "of them are ejected or unhealthy. While all upstreams are 0, /readyz answers 503."),
          [](const UpstreamSnapshot& u) { return u.is_live; }),
      page.by_server(
          gauge("spillway_server_up",
                "0: the server is ejected, or its health checks fail, and it is asked only when no "
                "other is up. 1: it is asked as others are, which does not say that it works: one "
                "that fails stays 1 while no more servers may be ejected "
                "(ejection.max_ejected_ratio; a single one never is)."),
          [](const Server& server) { return server.is_up; }),
      page.by_server(gauge("spillway_server_inflight",
                           "Connections to the server that are made or in use now."),
                     [](const Server& server) { return server.in_flight; }),
      page.by_server(
          gauge("spillway_server_consecutive_failures",
                "Failures of the server in a row, over all workers; 0 after a success. It goes on "
                "counting where the server cannot be ejected. A failing server, whatever "
                "spillway_server_up says: 5 and more."),
          [](const Server& server) { return server.failures_in_a_row; }),
      page.by_kind<ServerFailure>(
          counter("spillway_server_failures_total",
                  "Failures of the server by kind, those that a retry or another server mended "
                  "included; not those of health checks. An attempt is one, of the kind that came "
                  "first. A kept connection that turns out closed and is replaced is none."),
          "kind", &Server::failures),
      page.by_server(counter("spillway_server_ejections_total",
                             "Times the server was left out because it failed several times in a "
                             "row."),
                     [](const Server& server) { return server.ejections; }),
      page.by_server(
          gauge("spillway_server_circuit_open",
                "Workers whose circuit of this server is not closed, so that they ask it nothing "
                "or only try it; each worker judges for itself. Only where circuit_breaker is "
                "configured."),
          [](const Server& server) { return server.open_circuits; },
          [](const config::Upstream& upstream) { return upstream.circuit_breaker.has_value(); }),
      page.by_kind<HealthCheckResult>(
          counter("spillway_health_checks_total",
                  "Health checks of the server by result; skipped ones were not made for want of "
                  "descriptors or ports, and say nothing of it."),
          "result", &Server::checks,
          [](const config::Upstream& upstream) { return upstream.health_check.has_value(); }),
      page.shortages(),
  };
}

}  // namespace

Families upstream_families(const config::Config& config, const Snapshot& snapshot) {
  const Page page(config, snapshot);
  Families result = queue_families(page);
  std::ranges::move(regulation_families(page), std::back_inserter(result));
  for (MetricFamily& each : server_families(page)) {
    // Empty: no upstream has a circuit breaker, or none has health checks.
    if (!each.metric.empty()) result.push_back(std::move(each));
  }
  return result;
}

}  // namespace spillway::observe
