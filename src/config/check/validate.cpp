#include "config/check/validate.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "config/check/checks.hpp"
#include "config/defaults.hpp"
#include "config/describe/describe.hpp"

namespace spillway::config {
namespace {

using nlohmann::json;

// One threshold of a section, in any unit.
struct Threshold {
  std::string key;
  std::optional<double> value;
  std::function<void()> switch_off;
};

struct ThresholdList {
  std::vector<Threshold> all;

  template <class T, class Constraint>
  void operator()(Key key, std::optional<T>& value, const Constraint&, std::string_view) {
    all.push_back({std::string(key.text), number(value), [&value] { value = std::nullopt; }});
  }

  static std::optional<double> number(std::optional<double> value) { return value; }
  static std::optional<double> number(std::optional<Milliseconds> value) {
    return value ? std::optional(static_cast<double>(value->count())) : std::nullopt;
  }
};

std::vector<Threshold> list(Thresholds& thresholds) {
  ThresholdList out;
  describe(out, thresholds);
  return std::move(out.all);
}

std::string number_text(double value) {
  return value == static_cast<double>(static_cast<std::int64_t>(value))
             ? std::to_string(static_cast<std::int64_t>(value))
             : json(value).dump();
}

class Validator {
 public:
  explicit Validator(Findings& findings) : findings_(findings) {}

  void check(Config& config) {
    check_listeners(config);
    check_names(config.classes, "$.classes", "class");
    check_names(config.upstreams, "$.upstreams", "upstream");
    check_names(std::vector(config.routes.begin(), config.routes.end() - 1), "$.routes", "route");
    check_routes(config);
    check_tenants(config, findings_);
    check_trusted_tokens(config, findings_);
    check_tracked(config);
    check_evict(config.dispatch, "$.dispatch.evict", config);
    check_overload(config.overload, "$.overload");
    check_lanes(config);
    note_told_waits(config);
    check_min_shares(config);
    for (std::size_t i = 0; i < config.upstreams.size(); ++i) {
      const std::string path = element("$.upstreams", i);
      Upstream& upstream = config.upstreams[i];
      check_evict(upstream.dispatch, path + ".dispatch.evict", config);
      if (is_given(path + ".overload")) {
        check_overload(upstream.overload, path + ".overload");
      } else {
        upstream.overload = config.overload;
      }
      check_search(upstream, i);
      check_slots(upstream, i, config.classes);
    }
    check_upstreams(config, findings_);
    check_answers(config, findings_);
    check_defer(config, findings_);
    check_waiting_rooms(config, findings_);
  }

 private:
  bool is_given(std::string_view path) const { return findings_.is_given(path); }

  void report(const std::string& path, std::string message, const std::string& depends_on = {}) {
    findings_.report(path, std::move(message), depends_on);
  }

  void check_listeners(const Config& config) {
    if (!is_loopback(config.admin.address) && config.admin.token.empty()) {
      report("$.admin.address",
             "found " + shown(config.admin.address) +
                 ": an admin listener that others can reach needs $.admin.token",
             "$.admin.token");
    }
    if (config.listen.port != 0 && config.listen.port == config.admin.port &&
        config.listen.address == config.admin.address) {
      report(
          "$.admin.port",
          "found " + std::to_string(config.admin.port) + ": the same address and port as $.listen",
          "$.listen.port");
    }
  }

  template <class Named>
  void check_names(const std::vector<Named>& items, const std::string& path,
                   const std::string& kind) {
    std::map<std::string_view, std::size_t> first;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto [at, is_new] = first.emplace(items[i].name, i);
      if (!is_new) {
        report(element(path, i) + ".name", "found " + shown(items[i].name) + ": " +
                                               element(path, at->second) + " is the " + kind +
                                               " of that name");
      }
    }
  }

  // Each worker keeps counters for each upstream and class, some 60 bytes each.
  void check_tracked(const Config& config) {
    constexpr std::uint64_t kMost = 4'000'000;
    const std::uint64_t counters = std::uint64_t{config.tenants.tracked} * config.classes.size() *
                                   config.upstreams.size() * std::max(config.workers, 1u);
    if (!config.tenants.fairness || counters <= kMost) return;
    report("$.tenants.tracked", "found " + std::to_string(config.tenants.tracked) +
                                    ", which makes " + std::to_string(counters) +
                                    " counters over all classes, upstreams and workers, allowed: " +
                                    std::to_string(kMost));
  }

  void check_routes(const Config& config) {
    std::map<std::tuple<std::set<std::string>, std::string, std::string>, std::size_t> first;
    for (std::size_t i = 0; i < config.routes.size(); ++i) {
      const Route& route = config.routes[i];
      const bool is_default = i + 1 == config.routes.size();
      const std::string path = route_path(i, config.routes.size());
      if (route.priority && is_given(path + ".class")) {
        report(path + ".priority", "class and priority exclude one another: give one of them",
               path + ".class");
      }
      if (route.priority && *route.priority > config.priority_max) {
        report(path + ".priority",
               "found " + std::to_string(*route.priority) + ", allowed: up to $.priority_max (" +
                   std::to_string(config.priority_max) + ")",
               "$.priority_max");
      }
      if (is_default) continue;
      const Match& match = route.match;
      if (route.internal) {
        check_internal(route, path);
        continue;
      }
      const auto [at, is_new] = first.emplace(
          std::tuple(std::set(match.methods.begin(), match.methods.end()), match.host, match.path),
          i);
      if (!is_new) {
        report(path + ".match", "the same match as " + element("$.routes", at->second) +
                                    ": one would never be used");
      }
    }
  }

  void check_internal(const Route& route, const std::string& path) {
    if (route.match != Match{}) {
      report(path + ".match", "an internal route takes no request of a client: its match is {}",
             path + ".internal");
    }
    if (!route.defer) {
      report(path + ".internal",
             "an internal route is there for its jobs, and has none without defer",
             path + ".defer");
    }
  }

  void check_evict(const Dispatch& dispatch, const std::string& path, const Config& config) {
    if (!is_given(path)) return;
    for (std::size_t i = 0; i < dispatch.evict.size(); ++i) {
      if (index(dispatch.evict[i]) != 0) continue;
      report(element(path, i), "found " + shown(config.classes.front().name) +
                                   ": the highest class never gives up its places");
    }
  }

  void check_overload(Overload& overload, const std::string& path) {
    if (overload.window < 2 * overload.tick) {
      report(path + ".window_ms",
             "found " + std::to_string(overload.window.count()) +
                 ", allowed: at least two ticks (" + std::to_string(2 * overload.tick.count()) +
                 ")",
             path + ".tick_ms");
    }
    check_score(overload, path + ".score");
    if (overload.stages.empty()) {
      check_thresholds(overload.enter, overload.exit, path);
    } else {
      check_stages(overload, path);
    }
  }

  void check_score(const Overload& overload, const std::string& path) {
    const Score& score = overload.score;
    const SignalWeights& w = score.weights;
    if (overload.enter_by == EnterBy::score &&
        w.inflight_ratio + w.queue_ratio + w.queue_wait_p95 + w.latency_p95 + w.latency_p99 +
                w.latency_p95_ratio + w.event_loop_lag + w.error_rate ==
            0) {
      report(path + ".weights", "all are 0: no state is ever entered");
    }
    if (score.exit >= score.enter) {
      findings_.report_order(path + ".exit", number_text(score.exit), "below", path + ".enter",
                             number_text(score.enter));
    }
  }

  void check_stages(Overload& overload, const std::string& path) {
    replaced_by_stages(overload.enter, path + ".enter");
    replaced_by_stages(overload.exit, path + ".exit");
    for (Stage& stage : overload.stages) {
      if (!stage.cooldown) stage.cooldown = overload.cooldown;
    }
    // Inherited stages are checked at the place that defines them.
    if (!is_given(path + ".stages")) return;
    for (std::size_t i = 0; i < overload.stages.size(); ++i) {
      Stage& stage = overload.stages[i];
      const std::string here = element(path + ".stages", i);
      check_thresholds(stage.enter, stage.exit, here);
      const auto enter = list(stage.enter);
      if (std::none_of(enter.begin(), enter.end(), [](auto& one) { return one.value; })) {
        report(here + ".enter", "at least one threshold is needed, or the stage is never entered");
      }
      if (i == 0) continue;
      const Stage& below = overload.stages[i - 1];
      if (stage.name <= below.name) {
        report(here + ".name", "found " + shown(name(stage.name)) + " after " +
                                   shown(name(below.name)) +
                                   ", allowed: ELEVATED, OVERLOADED, CRITICAL in this order");
      }
      for (std::size_t j = 0; j < i; ++j)
        check_above(enter, overload.stages[j], here, element(path + ".stages", j));
    }
  }

  void replaced_by_stages(Thresholds& thresholds, const std::string& path) {
    for (const Threshold& one : list(thresholds)) {
      if (is_given(path + "." + one.key)) {
        report(path + "." + one.key, "stages take the place of " + path + ": give one of them");
      }
      one.switch_off();
    }
  }

  // A stage with a lower threshold than the stage below would make the lower stage useless.
  void check_above(const std::vector<Threshold>& enter, Stage& below, const std::string& path,
                   const std::string& path_below) {
    const auto lower = list(below.enter);
    for (std::size_t i = 0; i < enter.size(); ++i) {
      if (!enter[i].value || !lower[i].value || *enter[i].value >= *lower[i].value) continue;
      const std::string key = ".enter." + enter[i].key;
      findings_.report_order(path + key, number_text(*enter[i].value), "at least", path_below + key,
                             number_text(*lower[i].value));
    }
  }

  void check_thresholds(Thresholds& enter_values, Thresholds& exit_values,
                        const std::string& path) {
    const auto enter = list(enter_values);
    const auto exit = list(exit_values);
    for (std::size_t i = 0; i < enter.size(); ++i) {
      const std::string enter_path = path + ".enter." + enter[i].key;
      const std::string exit_path = path + ".exit." + exit[i].key;
      if (!enter[i].value) {
        if (is_given(exit_path)) {
          report(exit_path, "an exit threshold without " + enter_path + " has no meaning",
                 enter_path);
        }
        exit[i].switch_off();
      } else if (!exit[i].value) {
        report(exit_path,
               "missing: " + enter_path + " is " + number_text(*enter[i].value) +
                   ", so a lower exit threshold is needed",
               enter_path);
      } else if (*exit[i].value >= *enter[i].value) {
        findings_.report_order(exit_path, number_text(*exit[i].value), "below", enter_path,
                               number_text(*enter[i].value));
      }
    }
  }

  // A value in the file is never stretched.
  void note_told_waits(Config& config) {
    for (std::size_t i = 0; i < config.classes.size(); ++i) {
      const std::string path = element("$.classes", i);
      config.classes[i].stretches = !is_given(path + ".max_wait_ms") && !is_given(path + ".sla_ms");
    }
  }

  void check_lanes(const Config& config) {
    for (std::size_t i = 0; i < config.classes.size(); ++i) {
      const TrafficClass& one = config.classes[i];
      const std::string path = element("$.classes", i);
      if (one.max_inflight && *one.max_inflight < one.reserved) {
        report(path + ".max_inflight",
               "found " + std::to_string(*one.max_inflight) + ", allowed: at least the reserved " +
                   std::to_string(one.reserved),
               path + ".reserved");
      }
    }
  }

  void check_search(const Upstream& upstream, std::size_t at) {
    if (!upstream.dispatch.concurrency.search) return;
    const AutoConcurrency& search = *upstream.dispatch.concurrency.search;
    const std::uint32_t initial = search.initial.value_or(search.min);
    if (search.min <= initial && initial <= search.max) return;
    const std::string own = element("$.upstreams", at) + ".dispatch.concurrency";
    report(is_given(own) ? own : "$.dispatch.concurrency",
           "found min " + std::to_string(search.min) +
               (search.initial ? ", initial " + std::to_string(initial) : "") + ", max " +
               std::to_string(search.max) + ", allowed: min <= initial <= max");
  }

  void check_min_shares(Config& config) {
    set_min_shares(config.classes);
    double sum = 0;
    std::string given;
    for (std::size_t i = 0; i < config.classes.size(); ++i) {
      sum += *config.classes[i].min_share;
      const std::string path = element("$.classes", i) + ".min_share";
      if (is_given(path)) given = path;
    }
    if (sum < 1 || given.empty()) return;
    report(given, "the min_share of all classes together is " + number_text(sum) +
                      ", allowed: less than 1, so that turns are left for the discipline; a class "
                      "without the key has its default");
  }

  void check_slots(const Upstream& upstream, std::size_t at,
                   const std::vector<TrafficClass>& classes) {
    std::uint64_t reserved = 0;
    bool has_all = true;
    for (const TrafficClass& one : classes) {
      reserved += one.reserved;
      has_all = has_all && one.reserved > 0;
    }
    const std::uint64_t slots = upstream.dispatch.concurrency;
    if (reserved < slots || (reserved == slots && has_all)) return;
    const std::string own = element("$.upstreams", at) + ".dispatch.concurrency";
    const std::string path = is_given(own) ? own : "$.dispatch.concurrency";
    report(path, "found " + std::to_string(slots) + " slots for upstream " + shown(upstream.name) +
                     ", of which classes reserve " + std::to_string(reserved) +
                     (reserved > slots ? ": more than there are"
                                       : ": the classes that reserve none would never run"));
  }

  Findings& findings_;
};

}  // namespace

void validate(Config& config, const json& root, Problems& problems) {
  Findings findings(root, problems);
  Validator(findings).check(config);
  findings.settle();
}

}  // namespace spillway::config
