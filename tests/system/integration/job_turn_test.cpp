// A slot for which both a job and a live request wait.
#include <doctest/doctest.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

// Keeps the targets it is asked for, in their order; holds /hold.
struct Backend {
  std::vector<std::string> came() const {
    const std::lock_guard lock(mutex);
    return targets;
  }

  Event go;
  mutable std::mutex mutex;
  std::vector<std::string> targets;
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      {
        const std::lock_guard lock(mutex);
        targets.push_back(request->target());
      }
      if (request->target() == "/hold" && !proxy.wait(go)) return;
      if (!proxy.send(ok("done"))) return;
    }
  }};
};

// One slot; /export/** is deferred, everything else is live and waits for as long as it takes.
json one_slot(const std::string& job_class) {
  const auto patient = [](const char* name) {
    return json{{"name", name}, {"max_wait_ms", 60'000}, {"sla_ms", 60'000}};
  };
  json export_route{{"name", "export"},
                    {"match", {{"path", "/export/**"}}},
                    {"class", "P1"},
                    {"defer", {{"when", "always"}}}};
  if (!job_class.empty()) export_route["defer"]["class"] = job_class;
  return {{"store", {{"url", "memory:"}}},
          {"workers", 1},
          {"dispatch", {{"concurrency", 1}}},
          {"classes", {patient("P0"), patient("P1"), patient("P2")}},
          {"default_route", {{"class", "P2"}}},
          {"routes", json::array({export_route})}};
}

constexpr std::string_view kWithoutSlot = R"(spillway_jobs_without_slot_total{route="export"})";

std::string queue_depth(const std::string& name) {
  return R"(spillway_queue_depth{upstream="app",class=")" + name + "\"}";
}

// What comes to the backend once the slot is free. The job has waited for longer.
std::vector<std::string> order_of(const std::string& job_class) {
  Backend backend;
  ProxyUnderTest proxy(backend.peer.address(), one_slot(job_class));
  const Operator desk{proxy.admin_port()};
  RawClient holder(proxy.port()), live(proxy.port());
  holder.send(get("/hold"));
  REQUIRE(backend.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  defer(proxy.port(), "/export/1");
  REQUIRE(desk.come_to(1, "state=leased"));
  if (!job_class.empty()) REQUIRE(proxy.metric_becomes(queue_depth(job_class), 1));
  live.send(get("/live"));
  const double before = job_class == "P2" ? 1 : 0;
  REQUIRE(proxy.metric_becomes(queue_depth("P2"), before + 1));
  backend.go.set();
  CHECK(holder.read_response().status() == 200);
  CHECK(live.read_response().status() == 200);
  REQUIRE(desk.come_to(1, "state=succeeded"));
  return backend.came();
}

}  // namespace

TEST_CASE("a live request of the lowest class goes before a job that has waited for longer") {
  CHECK(order_of("") == std::vector<std::string>{"/hold", "/live", "/export/1"});
}

TEST_CASE("control: a job with a class has its turn as a live request of that class has") {
  CHECK(order_of("P0") == std::vector<std::string>{"/hold", "/export/1", "/live"});
  CHECK(order_of("P2") == std::vector<std::string>{"/hold", "/export/1", "/live"});
}

TEST_CASE("a job in hand that waits for a slot expires when its time is over") {
  Backend backend;
  json settings = one_slot("");
  json control = settings["routes"][0];
  control["name"] = "mail";
  control["match"]["path"] = "/mail/**";
  settings["routes"].push_back(control);
  settings["routes"][0]["defer"]["ttl_ms"] = 1000;
  ProxyUnderTest proxy(backend.peer.address(), settings);
  const Operator desk{proxy.admin_port()};
  RawClient holder(proxy.port());
  holder.send(get("/hold"));
  REQUIRE(backend.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  const std::string late = defer(proxy.port(), "/export/1");
  REQUIRE(desk.come_to(1, "state=leased"));
  REQUIRE(desk.come_to(1, "state=expired"));
  CHECK(desk.get("/jobs/" + late).at("cause") == "out_of_time");
  CHECK(desk.get("/jobs/" + late).at("attempts") == 0);
  CHECK(proxy.metric_becomes("spillway_jobs_expired_total", 1));
  backend.go.set();
  CHECK(holder.read_response().status() == 200);
  defer(proxy.port(), "/mail/1");
  REQUIRE(desk.come_to(1, "state=succeeded"));
  CHECK(backend.came() == std::vector<std::string>{"/hold", "/mail/1"});
}

// The one slot is free for nobody else then.
TEST_CASE("a job with a class that waits in vain for a slot of it takes the next spare one") {
  Backend backend;
  json settings = one_slot("P1");
  settings["classes"][1]["max_wait_ms"] = 300;
  ProxyUnderTest proxy(backend.peer.address(), settings);
  const Operator desk{proxy.admin_port()};
  RawClient holder(proxy.port());
  holder.send(get("/hold"));
  REQUIRE(backend.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  defer(proxy.port(), "/export/1");
  REQUIRE(proxy.metric_becomes(queue_depth("P1"), 1));
  REQUIRE(proxy.metric_becomes(queue_depth("P1"), 0));
  backend.go.set();
  CHECK(holder.read_response().status() == 200);
  REQUIRE(desk.come_to(1, "state=succeeded"));
  CHECK(proxy.metric(kWithoutSlot) == 0);
}

TEST_CASE("a job that finds no slot is counted, and goes before one that came later") {
  Backend backend;
  json settings = one_slot("P1");
  settings["classes"][1]["max_wait_ms"] = 300;
  ProxyUnderTest proxy(backend.peer.address(), settings);
  const Operator desk{proxy.admin_port()};
  RawClient holder(proxy.port());
  holder.send(get("/hold"));
  REQUIRE(backend.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  defer(proxy.port(), "/export/1");
  REQUIRE(proxy.metric_becomes(kWithoutSlot, 1));
  defer(proxy.port(), "/export/2");
  backend.go.set();
  CHECK(holder.read_response().status() == 200);
  REQUIRE(desk.come_to(2, "state=succeeded"));
  CHECK(backend.came() == std::vector<std::string>{"/hold", "/export/1", "/export/2"});
}

namespace {

// /export/** to the first server, /post/** to the second.
json two_upstreams(const ScriptedPeer& first, const ScriptedPeer& second) {
  const auto upstream = [](const char* name, const ScriptedPeer& peer) {
    const json breaker{
        {"consecutive_failures", 1}, {"open_ms", 3'600'000}, {"max_open_ms", 3'600'000}};
    return json{{"name", name},
                {"servers", json::array({peer.address()})},
                {"ejection", {{"consecutive_failures", 0}}},
                {"circuit_breaker", breaker}};
  };
  const auto route = [](const std::string& name, const char* to) {
    return json{{"name", name},
                {"match", {{"path", "/" + name + "/**"}}},
                {"upstream", to},
                {"defer", {{"when", "always"}}}};
  };
  return {{"store", {{"url", "memory:"}}},
          {"workers", 1},
          {"upstreams", {upstream("first", first), upstream("second", second)}},
          {"routes", {route("export", "first"), route("post", "second")}}};
}

}  // namespace

TEST_CASE("an open circuit holds up the jobs of its upstream, and no others") {
  const ScriptedPeer broken("HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n");
  const ScriptedPeer sound(ok("done"));
  ProxyUnderTest proxy(two_upstreams(broken, sound));
  const Operator desk{proxy.admin_port()};
  defer(proxy.port(), "/export/1");
  REQUIRE(desk.come_to(1, "state=retrying"));
  const std::string parked = defer(proxy.port(), "/export/2");
  for (std::size_t n = 1; n <= 20; ++n) {
    defer(proxy.port(), "/post/" + std::to_string(n));
    REQUIRE(desk.come_to(n, "state=succeeded&route=post"));
  }
  REQUIRE(desk.come_to(1, "state=queued&route=export"));
  const json job = desk.get("/jobs/" + parked);
  CHECK(job.at("attempts") == 0);
  CHECK(broken.seen().requests == 1);
  CHECK(sound.seen().requests == 20);
}
