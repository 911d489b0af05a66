// The content of the admin pages.
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "config/describe/effective.hpp"
#include "observe/metrics/metric_collector.hpp"
#include "observe/page/state_report.hpp"
#include "proxy/generation/snapshot.hpp"
#include "proxy/server/server_parts.hpp"

namespace spillway::proxy {

namespace {

std::vector<const observe::WorkerMetrics*> metrics_of(const Generation& generation) {
  std::vector<const observe::WorkerMetrics*> metrics;
  for (const auto& each : generation.metrics) metrics.push_back(each.get());
  return metrics;
}

observe::BuildInfo build_info() { return {SPILLWAY_VERSION, SPILLWAY_COMPILER}; }

}  // namespace

AdminSource Server::Parts::pages() {
  return {
      .metrics = [this] { return metrics_page(); },
      .state = [this] { return state_page(); },
      .config = [this] { return config::effective(generations.current()->config).dump(2); },
      .not_ready_reason = [this] { return not_ready_reason(); },
      .purge = [this](const cache::PurgeRequest& what) { return purge(what); },
      .reload = [this](Reloader::Done done) { reloader.request(std::move(done)); },
      .jobs = jobs_source(),
      .rooms = {.generation = [this] { return generations.current(); },
                .changed = [this](const observe::RoomChange& change) { log.room_changed(change); },
                .secrets = [this] { return process.visitors->keys.secrets(); },
                .replace_secret =
                    [this](waiting::Replacement how, const std::string& client) {
                      return replace_secret(how, client);
                    }}};
}

observe::Snapshot Server::Parts::snapshot(Generation& generation, bool with_dead_letters) {
  observe::Snapshot snapshot;
  snapshot.taken_at = std::chrono::system_clock::now();
  snapshot.uptime = Clock::now() - started;
  snapshot.phase = phase.load();
  snapshot.log_dropped = log.dropped();
  listener->read_snapshot(snapshot.listener);
  snapshot.listener.most_connections = connections_limit.load();
  snapshot.reloads = reloads.read();
  snapshot.reloads.generation = generation.number;
  snapshot.reloads.in_effect = Clock::now() - generations.since();
  snapshot.reloads.former = generations.collect();
  read_upstreams(generation, with_dead_letters, snapshot);
  generation.route_responses.read_snapshot(snapshot.caches);
  if (jobs) snapshot.jobs = jobs->snapshot();
  for (std::size_t n = 0; n < generation.waiting_rooms.size(); ++n) {
    if (const auto& room = generation.waiting_rooms[n])
      snapshot.waiting_rooms.push_back(
          snapshot_of(*room, *generation.config.routes[n].waiting_room));
  }
  snapshot.are_places_kept = process.visitors->keeping.load() == PlaceKeeping::works;
  return snapshot;
}

boost::asio::awaitable<std::string> Server::Parts::not_ready_reason() {
  if (phase.load() != observe::Phase::serving) co_return "draining";
  const std::string_view reason = co_await readiness.not_ready_reason(generations.current());
  co_return std::string(reason);
}

std::string Server::Parts::metrics_page() {
  const std::shared_ptr<Generation> generation = generations.current();
  const observe::MetricCollector collector(
      generation->config, metrics_of(*generation),
      [this, &generation] { return snapshot(*generation, false); }, build_info(),
      [this, &generation] { return generations.counts_except(*generation); });
  return observe::to_text(collector);
}

std::string Server::Parts::state_page() {
  const std::shared_ptr<Generation> generation = generations.current();
  return observe::state_report(generation->config, metrics_of(*generation),
                               snapshot(*generation, true), build_info())
      .dump(2, ' ', true, nlohmann::json::error_handler_t::replace);
}

cache::PurgeResult Server::Parts::purge(const cache::PurgeRequest& what) {
  cache::PurgeResult result = generations.current()->route_responses.purge(what, Clock::now());
  if (result.unknown.empty()) {
    log.message(observe::Level::info,
                "purged " + std::to_string(result.purged) + " cached responses");
  }
  return result;
}

JobsSource Server::Parts::jobs_source() {
  if (!jobs) return {};
  return {.submit = [this](StoreCall& call) { return jobs->submit(call); },
          .changed =
              [this](const observe::JobChange& change) {
                if (change.kind == observe::JobChange::Kind::replayed)
                  jobs->counts().replayed += change.count;
                log.jobs_changed(change);
              },
          .ttl = [this] { return generations.current()->config.jobs.ttl; },
          .routes =
              [this] {
                std::set<std::string> names;
                for (const config::Route& route : generations.current()->config.routes)
                  if (route.defer) names.insert(route.name);
                return names;
              }};
}

}  // namespace spillway::proxy
