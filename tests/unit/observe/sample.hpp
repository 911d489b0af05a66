// A configuration and a snapshot to report on, small but with every part present.
#pragma once

#include <string>
#include <utility>

#include "config/config.hpp"
#include "observe/snapshot/snapshot.hpp"

namespace spillway::observe {

inline constexpr ClassId kP0{0};
inline constexpr ClassId kP1{1};
inline constexpr UpstreamId kApp{0};
inline constexpr UpstreamId kReports{1};

inline config::Route sample_route(std::string name, ClassId traffic_class,
                                  UpstreamId upstream = kApp) {
  config::Route route;
  route.name = std::move(name);
  route.traffic_class = traffic_class;
  route.upstream = upstream;
  return route;
}

inline constexpr RouteId kExport{1};

// Classes P0 and P1; upstreams app and reports; routes checkout (P0), export (P1, to reports, with
// a cache) and default (P1).
inline config::Config sample_config() {
  config::Config config;
  for (const char* name : {"P0", "P1"}) {
    config::TrafficClass traffic_class;
    traffic_class.name = name;
    config.classes.push_back(traffic_class);
  }
  for (const char* name : {"app", "reports"}) {
    config::Upstream upstream;
    upstream.name = name;
    upstream.servers = {"10.0.0.1:80", "10.0.0.2:80"};
    upstream.dispatch.evict = {kP1};
    config.upstreams.push_back(upstream);
  }
  config.upstreams[index(kReports)].circuit_breaker.emplace();
  config.upstreams[index(kReports)].health_check.emplace();
  config.routes = {sample_route("checkout", kP0), sample_route("export", kP1, kReports),
                   sample_route("default", kP1)};
  config.routes[index(kExport)].cache.emplace().max_bytes = 1 << 20;
  return config;
}

// app is OVERLOADED with a queue of P1; reports is idle and has no evidence.
inline JobsSnapshot sample_jobs() {
  static JobCounts counts;
  counts.dead[index(jobs::Cause::rejected)] = 2;
  counts.retried[index(jobs::Cause::refused)] = 5;
  JobsSnapshot snapshot;
  snapshot.cap_shares = {{{"export", jobs::CapKind::concurrency}, 2},
                         {{"export", jobs::CapKind::rate}, 2.5}};
  snapshot.counts = &counts;
  snapshot.now = jobs::WallTime{} + std::chrono::hours(480'000);
  snapshot.is_available = true;
  snapshot.totals.routes.push_back({.route = "export",
                                    .by_state = {3, 1, 4, 1, 5, 9, 2},
                                    .oldest_claimable = snapshot.now - std::chrono::seconds{30}});
  snapshot.totals.oldest_letter = snapshot.now - std::chrono::hours{2};
  return snapshot;
}

inline Snapshot sample_snapshot() {
  Snapshot snapshot;
  snapshot.taken_at = std::chrono::system_clock::time_point{} +
                      std::chrono::seconds{1'000'000'000} + Milliseconds{250};
  snapshot.uptime = std::chrono::seconds{90};
  snapshot.log_dropped = 3;
  snapshot.upstreams.resize(2);
  for (UpstreamSnapshot& upstream : snapshot.upstreams) {
    upstream.concurrency_limit = 64;
    upstream.classes.resize(2);
    upstream.servers.resize(2);
  }
  snapshot.upstreams[1].open_circuits = 3;
  snapshot.upstreams[1].shortages = {7, 2, 0};
  snapshot.upstreams[1].is_live = false;
  snapshot.listener.most_connections = 144;
  snapshot.jobs = sample_jobs();
  snapshot.waiting_rooms.push_back({.name = "sale", .counts = {}, .tiers = {"vip", "standard"}});
  snapshot.waiting_rooms.back().counts.types.push_back({.name = "gpu"});
  snapshot.are_places_kept = true;
  ServerSnapshot& sick = snapshot.upstreams[1].servers[1];
  sick.address = "10.0.0.2:80";
  sick.is_up = false;
  sick.health = resilience::HealthState::unwell;
  sick.last_check = HealthCheckReport{.reason = HealthCheckReason::status, .detail = "503"};
  sick.ejected_for = Milliseconds{1500};
  sick.in_flight = 4;
  sick.open_circuits = 3;
  sick.ejections = 2;
  sick.failures[index(ServerFailure::truncated)] = 6;
  sick.failures_in_a_row = 5;
  sick.checks = {10, 5, 1, 0};
  UpstreamSnapshot& app = snapshot.upstreams[0];
  app.inflight = 64;
  app.state = overload::State::overloaded;
  app.reason = Reason::queue_wait_risk;
  app.in_state = std::chrono::seconds{10};
  app.is_limit_at_max = true;
  app.signals.inflight_ratio = 0.5;
  app.signals.queue_wait_p95 = 0.25;
  app.signals.offered_rate = 120;
  app.signals.error_rate = 0;
  app.signals.total_error_rate = 0.25;
  app.signals.errors_of_one_source = true;
  app.signals.left_out = overload::LeftOut{.kind = overload::SourceKind::path,
                                           .name = overload::SourceName("/boom"),
                                           .failed = 24,
                                           .finished = 26};
  app.transitions = {{overload::State::overloaded, Reason::queue_wait_risk, 2},
                     {overload::State::normal, Reason::queue_wait_risk, 1}};
  ClassSnapshot& p1 = app.classes[1];
  p1.queued = 7;
  p1.oldest_wait = Milliseconds{150};
  p1.predicted_wait = Milliseconds{40};
  p1.returns_booked = Milliseconds{2500};
  p1.weight = 3;
  p1.totals.enqueued = 40;
  p1.totals.started = 20;
  p1.totals.queue_full = 4;
  p1.totals.expired = 5;
  p1.totals.deadline_miss = 6;
  p1.totals.clients_miss = 7;
  p1.totals.wait_sum = Milliseconds{500};
  p1.totals.wait_max = Milliseconds{90};
  app.tenants_above_share = {{kP1, "api_key acme", 0.75}, {kP1, "", 0.5}};
  app.dead_letters_total = 300;
  app.dead_letters = {{.age = Milliseconds{250},
                       .reason = Reason::queue_timeout,
                       .traffic_class = kP1,
                       .route = RouteId{2},
                       .waited = Milliseconds{100},
                       .method = "GET",
                       .path = "/list?\xff",
                       .request_id = "0123",
                       .tenant = "192.0.2.1"}};
  snapshot.upstreams[1].classes[1].totals.started = 2;
  snapshot.caches = {{.route = kExport,
                      .bytes = 900'000,
                      .max_bytes = 1 << 20,
                      .entries = 12,
                      .stores = 40,
                      .evictions = 25,
                      .invalidations = 3}};
  return snapshot;
}

}  // namespace spillway::observe
