#include "observe/metrics/metric_collector.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "support/places.hpp"
#include "unit/observe/sample.hpp"
#include "unit/observe/touched.hpp"

namespace spillway::observe {
namespace {

struct Page {
  Page() : Page(sample_config()) {}
  explicit Page(config::Config given) : config(std::move(given)), one(config), other(config) {}

  std::string text() const {
    return to_text(MetricCollector(config, {&one, &other}, [this] { return snapshot; },
                                   {"0.1.0", "g++ \"12\"\\2"}));
  }

  config::Config config;
  WorkerMetrics one;
  WorkerMetrics other;
  Snapshot snapshot = sample_snapshot();
};

bool has_line(const std::string& text, const std::string& line) {
  return text.find("\n" + line + "\n") != std::string::npos;
}

// What promtool says about a page; empty when it has nothing to say.
std::string promtool(const std::string& page) {
  // One each, since test cases run side by side.
  const std::string file = support::in_build("metrics-page-") + std::to_string(::getpid()) + ".txt";
  std::ofstream(file) << page;
  std::FILE* pipe = popen(("promtool check metrics < '" + file + "' 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string said;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) said += static_cast<char>(c);
  const int status = pclose(pipe);
  if (status != 0) said += " (status " + std::to_string(status) + ")";
  std::remove(file.c_str());
  return said;
}

TEST_CASE("jobs of a route that is paused are not claimable") {
  const std::string oldest = "spillway_jobs_oldest_claimable_seconds{route=\"export\"} ";
  const std::string paused = "spillway_jobs_paused{route=\"export\"} ";
  Page page;
  CHECK(has_line(page.text(), oldest + "30"));
  CHECK(has_line(page.text(), paused + "0"));
  page.snapshot.jobs->paused.insert("export");
  CHECK(has_line(page.text(), oldest + "0"));
  CHECK(has_line(page.text(), paused + "1"));
}

TEST_CASE("what a proxy may use of the caps of routes is shown") {
  const std::string share = "spillway_jobs_cap_share{route=\"export\",cap=";
  Page page;
  CHECK(has_line(page.text(), share + "\"concurrency\"} 2"));
  CHECK(has_line(page.text(), share + "\"rate\"} 2.5"));
  page.snapshot.jobs->cap_shares.clear();
  CHECK(page.text().find(share) == std::string::npos);
}

TEST_CASE("jobs that got no slot are counted by route") {
  const std::string line = "spillway_jobs_without_slot_total{route=\"export\"} ";
  Page page;
  CHECK(has_line(page.text(), line + "0"));
  page.snapshot.jobs->without_slot["export"] = 3;
  CHECK(has_line(page.text(), line + "3"));
}

TEST_CASE("each server of an upstream has its samples") {
  const std::string text = Page().text();
  const std::string sick = "{upstream=\"reports\",server=\"10.0.0.2:80\"";
  CHECK(has_line(text, "spillway_server_up{upstream=\"app\",server=\"10.0.0.1:80\"} 1"));
  CHECK(has_line(text, "spillway_server_up" + sick + "} 0"));
  CHECK(has_line(text, "spillway_server_inflight" + sick + "} 4"));
  CHECK(has_line(text, "spillway_server_ejections_total" + sick + "} 2"));
  CHECK(has_line(text, "spillway_health_checks_total" + sick + ",result=\"success\"} 10"));
  CHECK(has_line(text, "spillway_health_checks_total" + sick + ",result=\"skipped\"} 0"));
  CHECK(text.find("spillway_health_checks_total{upstream=\"app\"") == std::string::npos);
  CHECK(has_line(text, "spillway_server_failures_total" + sick + ",kind=\"truncated\"} 6"));
  CHECK(has_line(text, "spillway_server_failures_total" + sick + ",kind=\"refused\"} 0"));
  CHECK(has_line(text, "spillway_server_consecutive_failures" + sick + "} 5"));
  CHECK(has_line(text, "spillway_server_circuit_open" + sick + "} 3"));
  CHECK(text.find("spillway_server_circuit_open{upstream=\"app\"") == std::string::npos);
  CHECK(has_line(text, "spillway_upstream_live{upstream=\"app\"} 1"));
  CHECK(has_line(text, "spillway_upstream_live{upstream=\"reports\"} 0"));
  const std::string shortages = "spillway_local_shortages_total{upstream=\"reports\",kind=";
  CHECK(has_line(text, shortages + "\"descriptors\"} 7"));
  CHECK(has_line(text, shortages + "\"ports\"} 2"));
  CHECK(has_line(text, shortages + "\"memory\"} 0"));
}

TEST_CASE("promtool has nothing to say about an empty or a full page") {
  Page page;
  CHECK(promtool(page.text()) == "");
  touch_everything(page.one);
  touch_everything(page.other);
  CHECK(promtool(page.text()) == "");
}

TEST_CASE("promtool has nothing to say about a page without a cache") {
  config::Config config = sample_config();
  config.routes[index(kExport)].cache.reset();
  Page page(config);
  page.snapshot.caches.clear();
  CHECK(promtool(page.text()) == "");
}

TEST_CASE("promtool would complain about a page with a fault") {
  CHECK(promtool("# HELP bad_count x\n# TYPE bad_count counter\nbad_count 1\n") != "");
}

TEST_CASE("tunnels of all workers add up by kind and every series is there at once") {
  Page page;
  CHECK(has_line(page.text(), R"(spillway_tunnels_total{kind="event_stream",result="refused"} 0)"));
  touch_everything(page.one);
  touch_everything(page.other);
  const std::string text = page.text();
  CHECK(has_line(text, R"(spillway_tunnels{kind="event_stream"} 6)"));
  CHECK(has_line(text, R"(spillway_tunnels{kind="upgrade"} 0)"));
  CHECK(has_line(text, R"(spillway_tunnels_total{kind="event_stream",result="refused"} 2)"));
  CHECK(has_line(text, R"(spillway_tunnels_ended_total{kind="event_stream",how="idle"} 4)"));
  CHECK(has_line(text, R"(spillway_tunnels_ended_total{kind="upgrade",how="broken"} 0)"));
}

TEST_CASE("the workers' counts add up") {
  Page page;
  touch_everything(page.one);
  touch_everything(page.other);
  page.one.request_duration(kP0, Milliseconds{700});
  const std::string text = page.text();
  CHECK(has_line(text,
                 R"(spillway_requests_total{route="checkout",class="P0",outcome="forwarded"} 2)"));
  CHECK(has_line(text, R"(spillway_responses_total{class="P1",code="503"} 2)"));
  CHECK(has_line(text, R"(spillway_responses_total{class="P1",code="other"} 2)"));
  CHECK(has_line(text, R"(spillway_denied_total{class="P1",reason="QUEUE_FULL"} 2)"));
  CHECK(has_line(text, R"(spillway_errors_total{class="P1",reason="UPSTREAM_TIMEOUT"} 2)"));
  CHECK(has_line(text,
                 R"(spillway_shadow_total{class="P1",outcome="denied",reason="TENANT_SHARE"} 2)"));
  CHECK(has_line(text,
                 "spillway_degraded_total{class=\"P0\",mode=\"skip_downstream\","
                 "reason=\"TAIL_LATENCY\"} 2"));
  CHECK(has_line(text, R"(spillway_retries_total{upstream="app",result="sent"} 0)"));
  for (const char* result : {"sent", "success", "no_budget", "stale"}) {
    CHECK(has_line(text, "spillway_retries_total{upstream=\"reports\",result=\"" +
                             std::string(result) + "\"} 2"));
  }
  CHECK(has_line(text, R"(spillway_connections{side="client"} 10)"));
  CHECK(has_line(text, R"(spillway_event_loop_lag_seconds{worker="1"} 0.001)"));
  CHECK(has_line(text, R"(spillway_event_loop_use_ratio{worker="1"} 0.5)"));
  CHECK(has_line(text, R"(spillway_request_duration_seconds_count{class="P0"} 3)"));
  CHECK(has_line(text, R"(spillway_request_duration_seconds_bucket{class="P0",le="0.01"} 0)"));
  CHECK(has_line(text, R"(spillway_request_duration_seconds_bucket{class="P0",le="0.5"} 2)"));
  CHECK(has_line(text, R"(spillway_request_duration_seconds_bucket{class="P0",le="+Inf"} 3)"));
}

TEST_CASE("the gates' snapshot is shown by upstream and summed by class") {
  const std::string text = Page().text();
  CHECK(has_line(text, R"(spillway_started_total{class="P1"} 22)"));
  CHECK(has_line(text, R"(spillway_expired_total{class="P1"} 5)"));
  CHECK(has_line(text, R"(spillway_deadline_miss_total{class="P1"} 6)"));
  CHECK(has_line(text, R"(spillway_queue_depth{upstream="app",class="P1"} 7)"));
  CHECK(has_line(text, R"(spillway_oldest_wait_seconds{upstream="app",class="P1"} 0.15)"));
  CHECK(has_line(text, R"(spillway_predicted_wait_seconds{upstream="app",class="P1"} 0.04)"));
  CHECK(text.find(R"(spillway_predicted_wait_seconds{upstream="app",class="P0"})") ==
        std::string::npos);
  CHECK(has_line(text, R"(spillway_returns_booked_seconds{upstream="app",class="P1"} 2.5)"));
  CHECK(has_line(text, R"(spillway_inflight{upstream="app"} 64)"));
  CHECK(has_line(text, R"(spillway_limit_at_max{upstream="app"} 1)"));
  CHECK(has_line(text, R"(spillway_limit_at_max{upstream="reports"} 0)"));
  CHECK(has_line(text, R"(spillway_class_weight{upstream="app",class="P1"} 3)"));
  CHECK(has_line(text, R"(spillway_dead_letters_total{upstream="app"} 300)"));
  CHECK(has_line(text, R"(spillway_overload_state{upstream="app"} 2)"));
  CHECK(has_line(text, R"(spillway_overload_state{upstream="reports"} 0)"));
  CHECK(has_line(text, R"(spillway_shedding_does_not_help{upstream="app"} 0)"));
  CHECK(has_line(text,
                 "spillway_overload_transitions_total{upstream=\"app\",to=\"OVERLOADED\","
                 "reason=\"QUEUE_WAIT_RISK\"} 2"));
  CHECK(has_line(text, R"(spillway_signal{upstream="app",name="queue_wait_p95_seconds"} 0.25)"));
  CHECK(has_line(text, "spillway_log_dropped_total 3"));
  CHECK(has_line(text, "spillway_connections_limit 144"));
}

TEST_CASE("a cache is shown by its route with the workers' counts") {
  Page page;
  touch_everything(page.one);
  touch_everything(page.other);
  page.other.cache_lookup(kExport, CacheResult::stale);
  const std::string text = page.text();
  CHECK(
      has_line(text, R"(spillway_requests_total{route="checkout",class="P0",outcome="cached"} 2)"));
  CHECK(has_line(text, R"(spillway_cache_lookups_total{route="export",result="fresh"} 2)"));
  CHECK(has_line(text, R"(spillway_cache_lookups_total{route="export",result="stale"} 3)"));
  CHECK(has_line(text, R"(spillway_cache_lookups_total{route="export",result="miss"} 2)"));
  CHECK(has_line(text, R"(spillway_cache_lookups_total{route="export",result="collapsed"} 2)"));
  CHECK(has_line(text, R"(spillway_cache_lookups_total{route="export",result="bypass"} 2)"));
  CHECK(has_line(text, R"(spillway_cache_refreshes_total{route="export",result="stored"} 2)"));
  CHECK(
      has_line(text, R"(spillway_cache_refreshes_total{route="export",result="not_modified"} 2)"));
  CHECK(has_line(text, R"(spillway_cache_refreshes_total{route="export",result="failed"} 2)"));
  CHECK(has_line(text, R"(spillway_cache_refreshes_total{route="export",result="no_room"} 2)"));
  CHECK(has_line(text, R"(spillway_cache_stores_total{route="export"} 40)"));
  CHECK(has_line(text, R"(spillway_cache_evictions_total{route="export"} 25)"));
  CHECK(has_line(text, R"(spillway_cache_invalidations_total{route="export"} 3)"));
  CHECK(has_line(text, R"(spillway_cache_bytes{route="export"} 900000)"));
  CHECK(has_line(text, R"(spillway_cache_max_bytes{route="export"} 1048576)"));
  CHECK(has_line(text, R"(spillway_cache_entries{route="export"} 12)"));
  CHECK(text.find(R"(spillway_cache_bytes{route="checkout"})") == std::string::npos);
}

TEST_CASE(
    "series that can occur are at 0 from the start so that the first event shows as an increase") {
  const std::string text = Page().text();
  CHECK(
      has_line(text, R"(spillway_requests_total{route="checkout",class="P0",outcome="denied"} 0)"));
  CHECK(has_line(text, R"(spillway_denied_total{class="P0",reason="TAIL_LATENCY"} 0)"));
  CHECK(has_line(text, R"(spillway_errors_total{class="P0",reason="UPSTREAM_TIMEOUT"} 0)"));
  CHECK(has_line(text, R"(spillway_errors_total{class="P0",reason="CIRCUIT_OPEN"} 0)"));
  CHECK(has_line(text,
                 "spillway_overload_transitions_total{upstream=\"reports\","
                 "to=\"OVERLOADED\",reason=\"ERROR_BURST\"} 0"));
  CHECK(has_line(text, R"(spillway_cache_lookups_total{route="export",result="stale"} 0)"));
  CHECK(has_line(text, R"(spillway_cache_refreshes_total{route="export",result="no_room"} 0)"));
  // A route never counts under another class unless it did.
  CHECK(text.find(R"(route="checkout",class="P1")") == std::string::npos);
  // No evidence is absent; a 0 would look healthy.
  CHECK(text.find(R"(name="latency_p95_seconds")") == std::string::npos);
}

TEST_CASE("no two samples share name and labels even when routes share a name") {
  config::Config config = sample_config();
  for (int i = 0; i < 1100; ++i) config.routes.push_back(sample_route("other", kP0));
  for (const std::size_t r : {500u, 1100u}) config.routes[r].cache.emplace();
  Page page(config);
  for (const RouteId route : {RouteId{500}, RouteId{1100}}) {
    page.one.cache_lookup(route, CacheResult::fresh);
    page.snapshot.caches.push_back({.route = route, .bytes = 100, .max_bytes = 1000});
  }
  page.one.finish(RouteId{500}, kP0, Outcome::forwarded);
  page.one.finish(RouteId{1100}, kP0, Outcome::forwarded);
  const std::string text = page.text();
  CHECK(
      has_line(text, R"(spillway_requests_total{route="other",class="P0",outcome="forwarded"} 2)"));
  CHECK(has_line(text, R"(spillway_cache_lookups_total{route="other",result="fresh"} 2)"));
  CHECK(has_line(text, R"(spillway_cache_bytes{route="other"} 200)"));
  std::set<std::string> seen;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    CHECK_MESSAGE(seen.insert(line.substr(0, line.rfind(' '))).second, line);
  }
}

TEST_CASE("label values are escaped") {
  CHECK(has_line(Page().text(),
                 R"(spillway_build_info{version="0.1.0",compiler="g++ \"12\"\\2"} 1)"));
}

}  // namespace
}  // namespace spillway::observe
