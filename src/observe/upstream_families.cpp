#include "observe/upstream_families.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "observe/metric_family.hpp"
#include "observe/signal_list.hpp"

namespace spillway::observe {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

// What can turn an upstream away from NORMAL: shown from the start, at 0, so that the first time
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

class Families {
 public:
  Families(const config::Config& config, const Snapshot& snapshot)
      : config_(config), snapshot_(snapshot) {}

  // One counter a class, summed over the upstreams.
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

  // One gauge an upstream and class.
  template <class Read>
  MetricFamily queue_gauge(std::string name, std::string help, Read read) const {
    MetricFamily result = family(std::move(name), MetricType::Gauge, std::move(help));
    for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
      for (std::size_t c = 0; c < config_.classes.size(); ++c) {
        add_gauge(result,
                  {{"upstream", config_.upstreams[u].name}, {"class", config_.classes[c].name}},
                  read(snapshot_.upstreams[u].classes[c]));
      }
    }
    return result;
  }

  // One gauge an upstream.
  template <class Read>
  MetricFamily upstream_gauge(std::string name, std::string help, Read read) const {
    MetricFamily result = family(std::move(name), MetricType::Gauge, std::move(help));
    for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
      add_gauge(result, {{"upstream", config_.upstreams[u].name}}, read(snapshot_.upstreams[u]));
    }
    return result;
  }

  // One counter an upstream.
  template <class Read>
  MetricFamily upstream_counter(std::string name, std::string help, Read read) const {
    MetricFamily result = family(std::move(name), MetricType::Counter, std::move(help));
    for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
      add_counter(result, {{"upstream", config_.upstreams[u].name}},
                  static_cast<double>(read(snapshot_.upstreams[u])));
    }
    return result;
  }

  MetricFamily transitions() const;
  MetricFamily signals() const;

 private:
  const config::Config& config_;
  const Snapshot& snapshot_;
};

MetricFamily Families::transitions() const {
  MetricFamily result =
      family("spillway_overload_transitions_total", MetricType::Counter,
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
      add_counter(result,
                  {{"upstream", config_.upstreams[u].name},
                   {"to", std::string(name(key.first))},
                   {"reason", std::string(name(key.second))}},
                  static_cast<double>(count));
    }
  }
  return result;
}

MetricFamily Families::signals() const {
  MetricFamily result =
      family("spillway_signal", MetricType::Gauge,
             "The overload signals as last judged: ratios from 0, times in seconds, rates per "
             "second. A signal without enough samples is absent.");
  for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) {
    const std::string& upstream = config_.upstreams[u].name;
    const overload::OverloadSignals& signals = snapshot_.upstreams[u].signals;
    const auto add = [&](std::string_view label, double value) {
      add_gauge(result, {{"upstream", upstream}, {"name", std::string(label)}}, value);
    };
    for (const NamedSignal& signal : signal_list(signals, {}, {})) {
      if (signal.value) add(signal.label, *signal.value);
    }
    add("offered_rate", signals.offered_rate);
    add("admitted_rate", signals.admitted_rate);
    add("completed_rate", signals.completed_rate);
  }
  return result;
}

}  // namespace

std::vector<MetricFamily> upstream_families(const config::Config& config,
                                            const Snapshot& snapshot) {
  using dispatch::ClassTotals;
  const Families families(config, snapshot);
  return {
      families.class_counter("spillway_enqueued_total", "Requests that entered a queue.",
                             &ClassTotals::enqueued),
      families.class_counter("spillway_started_total", "Requests that were given a slot.",
                             &ClassTotals::started),
      families.class_counter("spillway_queue_full_total",
                             "Requests refused because their class's queue was full.",
                             &ClassTotals::queue_full),
      families.class_counter("spillway_expired_total",
                             "Requests whose deadline had already passed when they arrived.",
                             &ClassTotals::expired),
      families.class_counter("spillway_deadline_miss_total",
                             "Requests whose deadline passed while they were queued.",
                             &ClassTotals::deadline_miss),
      families.queue_gauge("spillway_queue_depth", "Requests waiting for a slot now.",
                           [](const ClassSnapshot& c) { return static_cast<double>(c.queued); }),
      families.queue_gauge("spillway_oldest_wait_seconds",
                           "How long the oldest waiter of the class has been queued; growing "
                           "while other classes are served means starvation.",
                           [](const ClassSnapshot& c) { return to_seconds(c.oldest_wait); }),
      families.upstream_gauge(
          "spillway_inflight", "Requests holding a slot of the upstream now.",
          [](const UpstreamSnapshot& u) { return static_cast<double>(u.inflight); }),
      families.upstream_gauge(
          "spillway_concurrency_limit", "Slots of the upstream: what spillway_inflight may reach.",
          [](const UpstreamSnapshot& u) { return static_cast<double>(u.concurrency_limit); }),
      families.upstream_gauge(
          "spillway_overload_state",
          "0 NORMAL, 1 ELEVATED, 2 OVERLOADED, 3 CRITICAL; from 2 on the class rules refuse work, "
          "at "
          "1 only what that stage names.",
          [](const UpstreamSnapshot& u) { return static_cast<double>(index(u.state)); }),
      families.queue_gauge(
          "spillway_tenants_above_share",
          "Tenants that ask for more than their fair share and are refused first.",
          [](const ClassSnapshot& c) { return static_cast<double>(c.above_share); }),
      families.queue_gauge("spillway_class_weight",
                           "What the class counts when slots are shared out, its dynamic boost "
                           "included.",
                           [](const ClassSnapshot& c) { return c.weight; }),
      families.upstream_counter("spillway_dead_letters_total",
                                "Expired requests kept for a look at /state (expire_policy).",
                                [](const UpstreamSnapshot& u) { return u.dead_letters_total; }),
      families.transitions(),
      families.signals(),
  };
}

}  // namespace spillway::observe
