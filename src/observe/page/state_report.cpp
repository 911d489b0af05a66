#include "observe/page/state_report.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/time_text.hpp"
#include "config/choices.hpp"
#include "config/tunnels.hpp"
#include "observe/page/server_report.hpp"
#include "observe/page/waiting_report.hpp"
#include "observe/snapshot/signal_list.hpp"

namespace spillway::observe {
namespace {

using Json = nlohmann::ordered_json;

// The time this long before the snapshot.
std::string time_before(const Snapshot& snapshot, Duration ago) {
  return to_text(std::chrono::floor<Milliseconds>(snapshot.taken_at - ago));
}

// In milliseconds, rounded to microseconds, so that the page shows no float noise.
double rounded_ms(double seconds) { return std::round(seconds * 1e6) / 1e3; }
double rounded_ms(Duration duration) { return rounded_ms(to_seconds(duration)); }

Json optional_json(std::optional<double> value, bool is_time) {
  if (!value) return nullptr;
  return is_time ? rounded_ms(*value) : *value;
}

void add_thresholds(Json& entry, const NamedSignal& signal) {
  entry["enter"] = optional_json(signal.enter, signal.is_time);
  entry["exit"] = optional_json(signal.exit, signal.is_time);
  entry["breached"] = signal.value && signal.enter && *signal.value >= *signal.enter;
}

// Each signal with its thresholds; with stages, with the thresholds of each stage.
Json signals_json(const overload::OverloadSignals& signals, const config::Overload& overload) {
  Json result = Json::object();
  for (const NamedSignal& signal : signal_list(signals, overload.enter, overload.exit)) {
    Json& entry = result[std::string(signal.key)];
    entry["value"] = optional_json(signal.value, signal.is_time);
    if (overload.stages.empty()) add_thresholds(entry, signal);
  }
  for (const config::Stage& stage : overload.stages) {
    for (const NamedSignal& signal : signal_list(signals, stage.enter, stage.exit)) {
      add_thresholds(result[std::string(signal.key)][std::string(name(stage.name))], signal);
    }
  }
  return result;
}

// The error rate of all requests, and the sources excluded from the signal.
Json errors_json(const overload::OverloadSignals& signals) {
  Json left_out = nullptr;
  if (const auto& source = signals.left_out) {
    const std::string_view known = source->name.view();
    left_out = {{"source", overload::name(source->kind)},
                {"name", known.empty() ? Json(nullptr) : Json(known)},
                {"sources", source->sources},
                {"failed", source->failed},
                {"finished", source->finished}};
  }
  return {{"total_rate", optional_json(signals.total_error_rate, false)},
          {"of_one_source", signals.errors_of_one_source},
          {"left_out", std::move(left_out)}};
}

// With enter_by score: the score of each stage's thresholds, and the enter and exit scores.
Json scores_json(const overload::OverloadSignals& signals, const config::Overload& overload) {
  if (overload.enter_by != config::EnterBy::score) return nullptr;
  const auto sum = [&](const config::Thresholds& enter) {
    return overload::scored(enter, overload.score.weights, signals).sum;
  };
  Json result = {{"enter", overload.score.enter}, {"exit", overload.score.exit}};
  if (overload.stages.empty()) result[std::string(name(State::overloaded))] = sum(overload.enter);
  for (const config::Stage& stage : overload.stages)
    result[std::string(name(stage.name))] = sum(stage.enter);
  return result;
}

// The rule in force; in NORMAL it refuses nothing.
Json rule_json(const ClassSnapshot& now) {
  const config::Rule& rule = now.rule;
  Json result = {{"strategy", config::name(rule.strategy)}};
  if (rule.strategy == config::Strategy::deny || rule.strategy == config::Strategy::drop)
    result["probability"] = rule.probability;
  if (rule.strategy == config::Strategy::degrade) {
    result["mode"] = config::name(rule.mode);
    result["miss"] = config::name(config::miss_of(rule));
  }
  if (rule.budget) {
    result["budget"] = {{"rate", rule.budget->rate},
                        {"burst", rule.budget->burst},
                        {"tokens", now.budget_tokens.value_or(0)}};
  }
  return result;
}

template <class Result, std::size_t N>
Json counts_json(const std::array<std::uint64_t, N>& counts) {
  Json result = Json::object();
  for (std::size_t i = 0; i < N; ++i) result[std::string(name(static_cast<Result>(i)))] = counts[i];
  return result;
}

// The share of lookups that were answered without the upstream.
Json hit_ratio(const std::array<std::uint64_t, kCacheResultCount>& lookups) {
  const std::uint64_t hits = lookups[index(CacheResult::fresh)] +
                             lookups[index(CacheResult::stale)] +
                             lookups[index(CacheResult::collapsed)];
  const std::uint64_t asked = hits + lookups[index(CacheResult::miss)];
  if (asked == 0) return nullptr;
  return std::round(static_cast<double>(hits) / static_cast<double>(asked) * 1e4) / 1e4;
}

class Report {
 public:
  Report(const config::Config& config, std::span<const WorkerMetrics* const> workers,
         const Snapshot& snapshot)
      : config_(config), workers_(workers), snapshot_(snapshot) {}

  Json upstreams() const {
    Json result = Json::array();
    for (std::size_t u = 0; u < snapshot_.upstreams.size(); ++u) result.push_back(upstream(u));
    return result;
  }

  Json configuration() const {
    const Reloads& reloads = snapshot_.reloads;
    return {
        {"generation", reloads.generation}, {"since", time_before(snapshot_, reloads.in_effect)},
        {"former_in_use", reloads.former},  {"reloads", reloads.done},
        {"failed_reloads", reloads.failed}, {"problems", reloads.problems}};
  }

  Json caches() const {
    Json result = Json::array();
    for (const CacheSnapshot& now : snapshot_.caches) result.push_back(cache(now));
    return result;
  }

  // For all workers together, like the limit.
  Json tunnels() const {
    const auto connections = static_cast<std::uint32_t>(snapshot_.listener.most_connections);
    Json result = {{"limit", config::tunnels_among(connections, config_.limits)}};
    for (std::size_t kind = 0; kind < kTunnelKindCount; ++kind) {
      std::int64_t open = 0;
      for (const WorkerMetrics* worker : workers_)
        open += worker->gauges->tunnels[kind].open.value();
      result[std::string(name(static_cast<TunnelKind>(kind)))] = open;
    }
    return result;
  }

  Json workers() const {
    Json result = Json::array();
    for (const WorkerMetrics* worker : workers_) {
      result.push_back({{"connections", worker->gauges->client_connections.value()},
                        {"upstream_connections", worker->gauges->upstream_connections.value()},
                        {"event_loop_lag_ms", rounded_ms(worker->gauges->event_loop_lag())}});
    }
    return result;
  }

 private:
  Json upstream(std::size_t u) const {
    const config::Upstream& configured = config_.upstreams[u];
    const UpstreamSnapshot& now = snapshot_.upstreams[u];
    std::size_t queued = 0;
    Json classes = Json::array();
    for (std::size_t c = 0; c < now.classes.size(); ++c) {
      queued += now.classes[c].queued;
      classes.push_back(traffic_class(u, c));
    }
    Json evict = Json::array();
    for (const ClassId id : configured.dispatch.evict)
      evict.push_back(config_.classes[index(id)].name);
    Json transitions = Json::array();
    for (const TransitionCount& each : now.transitions) {
      transitions.push_back(
          {{"to", overload::name(each.to)}, {"reason", name(each.reason)}, {"count", each.count}});
    }
    return {{"name", configured.name},
            {"mode", config::name(configured.overload.mode)},
            {"state", overload::name(now.state)},
            {"reason", now.reason == Reason::none ? Json(nullptr) : Json(name(now.reason))},
            {"since", time_before(snapshot_, now.in_state)},
            {"signals", signals_json(now.signals, configured.overload)},
            {"score", scores_json(now.signals, configured.overload)},
            {"errors", errors_json(now.signals)},
            {"rates",
             {{"offered", now.signals.offered_rate},
              {"admitted", now.signals.admitted_rate},
              {"completed", now.signals.completed_rate}}},
            {"transitions", std::move(transitions)},
            {"open_circuits", configured.circuit_breaker ? Json(now.open_circuits) : Json(nullptr)},
            {"balance", config::name(configured.balance)},
            {"servers", servers(u)},
            {"fairness", config_.tenants.fairness},
            {"dispatch",
             {{"discipline", config::name(configured.dispatch.discipline)},
              {"late", config::name(configured.dispatch.late)},
              {"overload_order", config::name(configured.dispatch.overload_order)},
              {"newest_first", now.newest_first},
              {"deadline_aware", configured.dispatch.deadline_aware},
              {"expire_policy", config::name(configured.dispatch.expire_policy)},
              {"dynamic_weights", configured.dispatch.dynamic_weights},
              {"evict", std::move(evict)},
              {"target_wait_ms", configured.dispatch.target_wait.count()},
              {"present_target_wait_ms", rounded_ms(now.target_wait)},
              {"concurrency", now.concurrency_limit},
              {"effective_limit", now.effective_limit},
              {"limit_at_max", now.is_limit_at_max},
              {"inflight", now.inflight},
              {"queued", queued}}},
            {"classes", std::move(classes)},
            {"tenants_above_share", tenants(now)},
            {"dead_letters", dead_letters(now)}};
  }

  Json servers(std::size_t u) const {
    const config::Upstream& configured = config_.upstreams[u];
    Json result = Json::array();
    for (std::size_t s = 0; s < snapshot_.upstreams[u].servers.size(); ++s) {
      result.push_back(
          server_report(configured, configured.servers[s], snapshot_.upstreams[u].servers[s]));
    }
    return result;
  }

  Json tenants(const UpstreamSnapshot& now) const {
    Json result = Json::array();
    for (const TenantSnapshot& tenant : now.tenants_above_share) {
      result.push_back({{"class", config_.classes[index(tenant.traffic_class)].name},
                        {"tenant", tenant.name.empty() ? Json(nullptr) : Json(tenant.name)},
                        {"excess", tenant.excess}});
    }
    return result;
  }

  Json dead_letters(const UpstreamSnapshot& now) const {
    Json newest_first = Json::array();
    for (const DeadLetterSnapshot& letter : now.dead_letters) {
      newest_first.push_back({{"time", time_before(snapshot_, letter.age)},
                              {"reason", name(letter.reason)},
                              {"class", config_.classes[index(letter.traffic_class)].name},
                              {"route", config_.routes[index(letter.route)].name},
                              {"waited_ms", rounded_ms(letter.waited)},
                              {"method", letter.method},
                              {"path", letter.path},
                              {"request_id", letter.request_id},
                              {"tenant", letter.tenant}});
    }
    return {{"total", now.dead_letters_total}, {"newest_first", std::move(newest_first)}};
  }

  Json cache(const CacheSnapshot& now) const {
    std::array<std::uint64_t, kCacheResultCount> lookups{};
    std::array<std::uint64_t, kCacheRefreshCount> refreshes{};
    for (const WorkerMetrics* worker : workers_) {
      for (std::size_t i = 0; i < lookups.size(); ++i)
        lookups[i] += worker->cache_lookups(now.route, static_cast<CacheResult>(i));
      for (std::size_t i = 0; i < refreshes.size(); ++i)
        refreshes[i] += worker->cache_refreshes(now.route, static_cast<CacheRefresh>(i));
    }
    return {{"route", config_.routes[index(now.route)].name},
            {"bytes", now.bytes},
            {"max_bytes", now.max_bytes},
            {"entries", now.entries},
            {"stores", now.stores},
            {"evictions", now.evictions},
            {"invalidations", now.invalidations},
            {"lookups", counts_json<CacheResult>(lookups)},
            {"refreshes", counts_json<CacheRefresh>(refreshes)},
            {"hit_ratio", hit_ratio(lookups)}};
  }

  Json traffic_class(std::size_t u, std::size_t c) const {
    const ClassSnapshot& now = snapshot_.upstreams[u].classes[c];
    const dispatch::ClassTotals& totals = now.totals;
    const auto finished = [&](Outcome outcome) {
      std::uint64_t total = 0;
      for (const WorkerMetrics* worker : workers_)
        total += worker->finished_at(UpstreamId(static_cast<std::uint16_t>(u)),
                                     ClassId(static_cast<std::uint8_t>(c)), outcome);
      return total;
    };
    const double average_wait =
        totals.started == 0 ? 0 : to_seconds(totals.wait_sum) / static_cast<double>(totals.started);
    const config::TrafficClass& configured = config_.classes[c];
    return {
        {"name", configured.name},
        {"rule", rule_json(now)},
        {"weight", now.weight},
        {"min_share", configured.min_share.value_or(0)},
        {"reserved", configured.reserved},
        {"max_inflight", configured.max_inflight ? Json(*configured.max_inflight) : Json(nullptr)},
        {"max_queue", configured.max_queue},
        {"inflight", now.inflight},
        {"queued", now.queued},
        {"oldest_wait_ms", rounded_ms(now.oldest_wait)},
        {"predicted_wait_ms",
         now.predicted_wait ? Json(rounded_ms(*now.predicted_wait)) : Json(nullptr)},
        {"returns_booked_ms", rounded_ms(now.returns_booked)},
        {"average_wait_ms", rounded_ms(average_wait)},
        {"max_wait_ms", rounded_ms(totals.wait_max)},
        {"enqueued", totals.enqueued},
        {"started", totals.started},
        {"completed",
         finished(Outcome::forwarded) + finished(Outcome::cached) + finished(Outcome::degraded)},
        {"failed", finished(Outcome::error)},
        {"cached", finished(Outcome::cached)},
        {"degraded", finished(Outcome::degraded)},
        {"denied", finished(Outcome::denied)},
        {"dropped", finished(Outcome::dropped)},
        {"client_gone", finished(Outcome::client_gone)},
        {"expired", totals.expired},
        {"missed", totals.deadline_miss},
        {"missed_own", totals.clients_miss},
        {"timed_out", totals.queue_timeout},
        {"downgraded", totals.downgraded},
        {"evicted", totals.evicted},
        {"cancelled", totals.cancelled},
        {"queue_full", totals.queue_full},
        {"wait_risk", totals.wait_risk}};
  }

  const config::Config& config_;
  std::span<const WorkerMetrics* const> workers_;
  const Snapshot& snapshot_;
};

Json jobs_json(const JobsSnapshot& jobs) {
  Json routes = Json::array();
  for (const store::Totals::Route& route : jobs.totals.routes) {
    Json states = Json::object();
    for (std::size_t i = 0; i < jobs::kJobStateCount; ++i)
      states[std::string(jobs::name(static_cast<jobs::JobState>(i)))] = route.by_state[i];
    routes.push_back(
        {{"route", route.route},
         {"jobs", std::move(states)},
         {"paused", jobs.is_paused(route)},
         {"oldest_claimable_ms", std::round(1e3 * jobs.oldest_claimable_seconds(route))}});
  }
  Json shares = Json::object();
  for (const auto& [cap, share] : jobs.cap_shares)
    shares[cap.route][std::string(jobs::name(cap.kind))] = share;
  const JobCounts& counts = *jobs.counts;
  return {{"store_available", jobs.is_available},
          {"accepted", counts.accepted.load()},
          {"succeeded", counts.succeeded.load()},
          {"in_hand", counts.in_hand.load()},
          {"running", counts.running.load()},
          {"commits", counts.commit_times.count()},
          {"longest_commit_ms", rounded_ms(jobs.longest_commit)},
          {"cap_shares", std::move(shares)},
          {"routes", std::move(routes)}};
}

}  // namespace

nlohmann::ordered_json state_report(const config::Config& config,
                                    std::span<const WorkerMetrics* const> workers,
                                    const Snapshot& snapshot, const BuildInfo& build) {
  const Report report(config, workers, snapshot);
  Json state = {{"version", build.version},
                {"time", time_before(snapshot, {})},
                {"uptime_seconds", std::round(to_seconds(snapshot.uptime) * 1e3) / 1e3},
                {"phase", name(snapshot.phase)},
                {"draining", snapshot.phase == Phase::draining},
                {"configuration", report.configuration()},
                {"upstreams", report.upstreams()},
                {"caches", report.caches()},
                {"tunnels", report.tunnels()},
                {"workers", report.workers()},
                {"log_dropped", snapshot.log_dropped}};
  if (snapshot.jobs) state["jobs"] = jobs_json(*snapshot.jobs);
  if (!snapshot.waiting_rooms.empty())
    state["waiting_rooms"] = waiting_rooms_report(snapshot.waiting_rooms);
  return state;
}

}  // namespace spillway::observe
