#include "observe/page/state_report.hpp"

#include <doctest/doctest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "unit/observe/sample.hpp"

namespace spillway::observe {
namespace {

nlohmann::ordered_json report() {
  const config::Config config = sample_config();
  WorkerMetrics one(config);
  WorkerMetrics other(config);
  one.gauges->client_connections.add(4);
  one.gauges->set_event_loop_lag(Milliseconds{2});
  one.finish(RouteId{2}, kP1, Outcome::forwarded);
  other.finish(RouteId{2}, kP1, Outcome::forwarded);
  other.finish(RouteId{2}, kP1, Outcome::error);
  other.finish(RouteId{1}, kP1, Outcome::forwarded);
  other.finish(RouteId{1}, kP1, Outcome::cached);
  one.finish(RouteId{1}, kP1, Outcome::degraded);
  const std::array<const WorkerMetrics*, 2> workers{&one, &other};
  return state_report(config, workers, sample_snapshot(), {"0.1.0", "g++"});
}

TEST_CASE("the state report names state and cause and shows each signal beside its thresholds") {
  const auto json = report();
  const auto& app = json["upstreams"][0];
  CHECK(app["name"] == "app");
  CHECK(app["state"] == "OVERLOADED");
  CHECK(app["reason"] == "QUEUE_WAIT_RISK");
  CHECK(app["since"] == "2001-09-09T01:46:30.250Z");
  CHECK(app["signals"]["queue_wait_p95_ms"]["value"] == 250);
  CHECK(app["signals"]["queue_wait_p95_ms"]["enter"] == 200);
  CHECK(app["signals"]["queue_wait_p95_ms"]["exit"] == 120);
  CHECK(app["signals"]["queue_wait_p95_ms"]["breached"] == true);
  CHECK(app["signals"]["inflight_ratio"]["breached"] == false);
  CHECK(app["signals"]["latency_p95_ms"]["value"].is_null());
  CHECK(app["signals"]["latency_p95_ms"]["enter"].is_null());
  CHECK(app["signals"]["error_rate"]["value"] == 0);
  CHECK(app["errors"]["total_rate"] == 0.25);
  CHECK(app["errors"]["of_one_source"] == true);
  CHECK(app["errors"]["left_out"]["source"] == "path");
  CHECK(app["errors"]["left_out"]["name"] == "/boom");
  CHECK(app["errors"]["left_out"]["sources"] == 1);
  CHECK(app["errors"]["left_out"]["failed"] == 24);
  CHECK(app["errors"]["left_out"]["finished"] == 26);
  CHECK(json["upstreams"][1]["errors"]["left_out"].is_null());
  CHECK(app["dispatch"]["inflight"] == 64);
  CHECK(app["dispatch"]["concurrency"] == 64);
  CHECK(app["dispatch"]["limit_at_max"] == true);
  CHECK(json["upstreams"][1]["dispatch"]["limit_at_max"] == false);
  CHECK(app["dispatch"]["queued"] == 7);
  CHECK(app["transitions"][0]["count"] == 2);
  CHECK(app["dispatch"]["evict"][0] == "P1");
  CHECK(app["fairness"] == true);
  CHECK(json["upstreams"][1]["state"] == "NORMAL");
  CHECK(json["upstreams"][1]["reason"].is_null());
  CHECK(json["upstreams"][0]["open_circuits"].is_null());
  CHECK(json["upstreams"][1]["open_circuits"] == 3);
}

TEST_CASE("the state report shows each server of each upstream") {
  const auto json = report();
  CHECK(json["upstreams"][0]["balance"] == "least_inflight");
  const auto& well = json["upstreams"][0]["servers"][0];
  CHECK(well["name"] == "10.0.0.1:80");
  CHECK(well["up"] == true);
  CHECK(well["health"].is_null());
  CHECK(well["ejected_for_ms"] == 0);
  CHECK(well["circuit"].is_null());
  const auto& sick = json["upstreams"][1]["servers"][1];
  CHECK(sick["name"] == "10.0.0.2:80");
  CHECK(sick["address"] == "10.0.0.2:80");
  CHECK(sick["up"] == false);
  CHECK(sick["health"] == "unhealthy");
  CHECK(sick["last_check"]["result"] == "status");
  CHECK(sick["last_check"]["detail"] == "503");
  CHECK(well["last_check"].is_null());
  CHECK(sick["ejected_for_ms"] == 1500);
  CHECK(sick["inflight"] == 4);
  CHECK(sick["circuit"] == "open");
  CHECK(json["upstreams"][1]["servers"][0]["health"] == "unknown");
  CHECK(json["upstreams"][1]["servers"][0]["circuit"] == "closed");
}

TEST_CASE("the state report counts each class at each upstream") {
  const auto json = report();
  const auto& p1 = json["upstreams"][0]["classes"][1];
  CHECK(p1["name"] == "P1");
  CHECK(p1["queued"] == 7);
  CHECK(p1["oldest_wait_ms"] == 150);
  CHECK(p1["predicted_wait_ms"] == 40);
  CHECK(p1["returns_booked_ms"] == 2500);
  CHECK(json["upstreams"][0]["classes"][0]["predicted_wait_ms"].is_null());
  CHECK(p1["average_wait_ms"] == 25);
  CHECK(p1["max_wait_ms"] == 90);
  CHECK(p1["completed"] == 2);
  CHECK(p1["failed"] == 1);
  CHECK(p1["missed"] == 6);
  CHECK(p1["missed_own"] == 7);
  CHECK(p1["weight"] == 3);
  CHECK(json["upstreams"][1]["classes"][1]["completed"] == 3);
  CHECK(json["upstreams"][1]["classes"][1]["cached"] == 1);
  CHECK(json["upstreams"][1]["classes"][1]["degraded"] == 1);
  CHECK(json["upstreams"][0]["classes"][0]["average_wait_ms"] == 0);
}

TEST_CASE("the state report names tenants above their share and requests that expired") {
  const auto json = report();
  const auto& app = json["upstreams"][0];
  CHECK(app["tenants_above_share"][0]["class"] == "P1");
  CHECK(app["tenants_above_share"][0]["tenant"] == "api_key acme");
  CHECK(app["tenants_above_share"][0]["excess"] == 0.75);
  CHECK(app["tenants_above_share"][1]["tenant"].is_null());
  CHECK(app["dead_letters"]["total"] == 300);
  const auto& letter = app["dead_letters"]["newest_first"][0];
  CHECK(letter["time"] == "2001-09-09T01:46:40.000Z");
  CHECK(letter["reason"] == "QUEUE_TIMEOUT");
  CHECK(letter["class"] == "P1");
  CHECK(letter["route"] == "default");
  CHECK(letter["waited_ms"] == 100);
  CHECK(letter["tenant"] == "192.0.2.1");
  CHECK_NOTHROW(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  CHECK(json["upstreams"][1]["dead_letters"]["total"] == 0);
}

TEST_CASE("the state report shows the rule in force and what is left of its budget") {
  const config::Config config = sample_config();
  Snapshot snapshot = sample_snapshot();
  ClassSnapshot& p0 = snapshot.upstreams[0].classes[0];
  p0.rule.strategy = config::Strategy::degrade;
  p0.rule.mode = config::DegradeMode::cache_only;
  ClassSnapshot& p1 = snapshot.upstreams[0].classes[1];
  p1.rule.strategy = config::Strategy::deny;
  p1.rule.probability = 0.5;
  p1.rule.budget = config::Budget{10, 20};
  p1.budget_tokens = 7.5;
  const WorkerMetrics one(config);
  const std::array<const WorkerMetrics*, 1> workers{&one};
  const auto classes =
      state_report(config, workers, snapshot, {"0.1.0", "g++"})["upstreams"][0]["classes"];
  CHECK(classes[0]["rule"]["strategy"] == "degrade");
  CHECK(classes[0]["rule"]["mode"] == "cache_only");
  CHECK(classes[0]["rule"]["miss"] == "deny");
  CHECK_FALSE(classes[0]["rule"].contains("budget"));
  CHECK(classes[1]["rule"]["probability"] == 0.5);
  CHECK(classes[1]["rule"]["budget"]["rate"] == 10);
  CHECK(classes[1]["rule"]["budget"]["tokens"] == 7.5);
}

TEST_CASE("by score the state report shows each sum beside its bounds") {
  config::Config config = sample_config();
  config.upstreams[0].overload.enter_by = config::EnterBy::score;
  const WorkerMetrics one(config);
  const std::array<const WorkerMetrics*, 1> workers{&one};
  const auto upstreams = state_report(config, workers, sample_snapshot(), {"0.1.0", "g++"});
  const auto& score = upstreams["upstreams"][0]["score"];
  CHECK(score["enter"] == 1.5);
  CHECK(score["OVERLOADED"].get<double>() == doctest::Approx(0.5 / 0.95 + 0.25 / 0.2));
  CHECK(upstreams["upstreams"][1]["score"].is_null());
}

TEST_CASE("with stages each signal has the thresholds of each stage") {
  config::Config config = sample_config();
  config::Stage stage;
  stage.name = State::critical;
  stage.enter.queue_wait_p95 = Milliseconds{200};
  stage.exit.queue_wait_p95 = Milliseconds{100};
  config.upstreams[0].overload.stages = {stage};
  config.upstreams[0].overload.mode = config::Mode::shadow;
  const WorkerMetrics one(config);
  const std::array<const WorkerMetrics*, 1> workers{&one};
  const auto json = state_report(config, workers, sample_snapshot(), {"0.1.0", "g++"});
  const auto& wait = json["upstreams"][0]["signals"]["queue_wait_p95_ms"];
  CHECK(wait["value"] == 250);
  CHECK(wait["CRITICAL"]["enter"] == 200);
  CHECK(wait["CRITICAL"]["breached"] == true);
  CHECK_FALSE(wait.contains("enter"));
  CHECK(json["upstreams"][0]["mode"] == "shadow");
}

TEST_CASE("the state report shows each cache and how much it spares the upstream") {
  const config::Config config = sample_config();
  WorkerMetrics one(config);
  WorkerMetrics other(config);
  const std::array<const WorkerMetrics*, 2> workers{&one, &other};
  const auto cache = [&] {
    const auto caches =
        state_report(config, workers, sample_snapshot(), {"0.1.0", "g++"})["caches"];
    REQUIRE(caches.size() == 1);
    return caches[0];
  };
  for (int n = 0; n < 5; ++n) one.cache_lookup(kExport, CacheResult::bypass);
  CHECK(cache()["hit_ratio"].is_null());

  for (const CacheResult result : {CacheResult::fresh, CacheResult::stale, CacheResult::miss})
    one.cache_lookup(kExport, result);
  for (const CacheResult result : {CacheResult::fresh, CacheResult::collapsed, CacheResult::miss})
    other.cache_lookup(kExport, result);
  one.cache_refresh(kExport, CacheRefresh::stored);
  other.cache_refresh(kExport, CacheRefresh::stored);
  const auto json = cache();
  CHECK(json["route"] == "export");
  CHECK(json["bytes"] == 900'000);
  CHECK(json["max_bytes"] == 1 << 20);
  CHECK(json["entries"] == 12);
  CHECK(json["stores"] == 40);
  CHECK(json["evictions"] == 25);
  CHECK(json["invalidations"] == 3);
  CHECK(json["lookups"].dump() == R"({"fresh":2,"stale":1,"miss":2,"collapsed":1,"bypass":5})");
  CHECK(json["refreshes"].dump() == R"({"stored":2,"not_modified":0,"failed":0,"no_room":0})");
  CHECK(json["hit_ratio"] == 0.6667);
}

TEST_CASE("the state report shows the workers and the process") {
  const auto json = report();
  CHECK(json["version"] == "0.1.0");
  CHECK(json["time"] == "2001-09-09T01:46:40.250Z");
  CHECK(json["uptime_seconds"] == 90);
  CHECK(json["phase"] == "serving");
  CHECK(json["draining"] == false);
  CHECK(json["workers"].size() == 2);
  CHECK(json["workers"][0]["connections"] == 4);
  CHECK(json["workers"][0]["event_loop_lag_ms"] == 2);
}

}  // namespace
}  // namespace spillway::observe
