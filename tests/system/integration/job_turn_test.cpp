// A slot for which both a job and a live request wait.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/proxy_process.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/stopwatch.hpp"
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

// The only slot is held by a request, until give_back().
struct TakenSlot {
  explicit TakenSlot(const json& settings) : proxy(backend.peer.address(), settings) {
    holder.send(get("/hold"));
    REQUIRE(backend.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  }
  void give_back() {
    backend.go.set();
    CHECK(holder.read_response().status() == 200);
  }

  Backend backend;
  ProxyUnderTest proxy;
  Operator desk{proxy.admin_port()};
  RawClient holder{proxy.port()};
};

// Jobs compete with P1, which waits for 300 ms.
json impatient() {
  json settings = one_slot("P1");
  settings["classes"][1]["max_wait_ms"] = 300;
  return settings;
}

// What comes to the backend once the slot is free. The job has waited for longer.
std::vector<std::string> order_of(const std::string& job_class) {
  TakenSlot slot(one_slot(job_class));
  RawClient live(slot.proxy.port());
  defer(slot.proxy.port(), "/export/1");
  REQUIRE(slot.desk.come_to(1, "state=leased"));
  if (!job_class.empty()) REQUIRE(slot.proxy.metric_becomes(queue_depth(job_class), 1));
  live.send(get("/live"));
  const double before = job_class == "P2" ? 1 : 0;
  REQUIRE(slot.proxy.metric_becomes(queue_depth("P2"), before + 1));
  slot.give_back();
  CHECK(live.read_response().status() == 200);
  REQUIRE(slot.desk.come_to(1, "state=succeeded"));
  return slot.backend.came();
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
  json settings = one_slot("");
  json control = settings["routes"][0];
  control["name"] = "mail";
  control["match"]["path"] = "/mail/**";
  settings["routes"].push_back(control);
  settings["routes"][0]["defer"]["ttl_ms"] = 1000;
  TakenSlot slot(settings);
  const std::string late = defer(slot.proxy.port(), "/export/1");
  REQUIRE(slot.desk.come_to(1, "state=leased"));
  REQUIRE(slot.desk.come_to(1, "state=expired"));
  CHECK(slot.desk.get("/jobs/" + late).at("cause") == "out_of_time");
  CHECK(slot.desk.get("/jobs/" + late).at("attempts") == 0);
  CHECK(slot.proxy.metric_becomes("spillway_jobs_expired_total", 1));
  slot.give_back();
  defer(slot.proxy.port(), "/mail/1");
  REQUIRE(slot.desk.come_to(1, "state=succeeded"));
  CHECK(slot.backend.came() == std::vector<std::string>{"/hold", "/mail/1"});
}

TEST_CASE("a job with a class that waits in vain for a slot of it takes the next spare one") {
  TakenSlot slot(impatient());
  defer(slot.proxy.port(), "/export/1");
  REQUIRE(slot.proxy.metric_becomes(queue_depth("P1"), 1));
  REQUIRE(slot.proxy.metric_becomes(queue_depth("P1"), 0));
  slot.give_back();
  REQUIRE(slot.desk.come_to(1, "state=succeeded"));
  CHECK(slot.proxy.metric(kWithoutSlot) == 0);
}

TEST_CASE("a job that finds no slot is counted, and goes before one that came later") {
  TakenSlot slot(impatient());
  defer(slot.proxy.port(), "/export/1");
  REQUIRE(slot.proxy.metric_becomes(kWithoutSlot, 1));
  defer(slot.proxy.port(), "/export/2");
  slot.give_back();
  REQUIRE(slot.desk.come_to(2, "state=succeeded"));
  CHECK(slot.backend.came() == std::vector<std::string>{"/hold", "/export/1", "/export/2"});
}

TEST_CASE("jobs that have waited for a slot begin no faster than the rate of their route") {
  json settings = one_slot("");
  settings["routes"][0]["defer"]["rate"] = 5;
  TakenSlot slot(settings);
  for (int n = 1; n <= 8; ++n) defer(slot.proxy.port(), "/export/" + std::to_string(n));
  REQUIRE(slot.desk.come_to(5, "state=leased"));
  const Stopwatch since;
  slot.give_back();
  REQUIRE(slot.desk.come_to(6, "state=succeeded"));
  CHECK_MESSAGE(since.elapsed() >= Milliseconds(700), "1.5 at once, and then five a second");
  REQUIRE(slot.desk.come_to(8, "state=succeeded"));
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

namespace {

// Says nothing until it may.
struct SilentBackend {
  bool comes_to_have(std::size_t requests) const {
    return peer.wait_until([&](const auto& seen) { return seen.requests == requests; });
  }

  Event go;
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (proxy.read_request())
      if (!proxy.wait(go) || !proxy.send(ok("done"))) return;
  }};
};

// /export/** to the one, which has a slot for one request, /post/** to the other.
json with_two_backends(const SilentBackend& first, const SilentBackend& second,
                       const std::string& store) {
  const auto upstream = [](const char* name, const SilentBackend& backend, int slots) {
    return json{{"name", name},
                {"servers", json::array({backend.peer.address()})},
                {"dispatch", {{"concurrency", slots}}}};
  };
  const auto route = [](const std::string& name, const char* to) {
    return json{{"name", name},
                {"match", {{"path", "/" + name + "/**"}}},
                {"upstream", to},
                {"defer", {{"when", "always"}}}};
  };
  return {{"store", {{"url", store}}},
          {"workers", 1},
          {"log", {{"level", "error"}}},
          {"upstreams", {upstream("first", first, 1), upstream("second", second, 2)}},
          {"routes", {route("export", "first"), route("post", "second")}}};
}

}  // namespace

TEST_CASE("a recovered job without a slot does not keep those before an idle upstream waiting") {
  const TemporaryDirectory directory;
  SilentBackend first, second;
  const json settings =
      with_two_backends(first, second, "sqlite:" + (directory.path() / "jobs.db").string());
  for (std::size_t ends = 1; ends <= 3; ++ends) {
    ProxyProcess proxy(settings);
    if (ends == 1) {
      defer(proxy.port(), "/export/1");
      defer(proxy.port(), "/post/1");
      defer(proxy.port(), "/post/2");
    }
    REQUIRE(first.comes_to_have(ends));
    REQUIRE(second.comes_to_have(2 * ends));
    proxy.process().signal(SIGKILL);
    REQUIRE(proxy.process().wait());
  }
  second.go.set();
  json without_routes = settings;
  without_routes.erase("routes");
  ProxyUnderTest proxy(without_routes);
  const Operator desk{proxy.admin_port()};
  RawClient live(proxy.port());
  live.send(get("/live"));
  REQUIRE(first.comes_to_have(4));
  REQUIRE(proxy.reload(settings).status() == 200);
  CHECK(desk.come_to(2, "state=succeeded&route=post"));
  const json waits = desk.get("/jobs?route=export").at("jobs").at(0);
  CHECK(waits.at("recoveries") == 3);
  CHECK(waits.at("attempts") == 0);
  CHECK_FALSE(waits.contains("ended_at"));
  CHECK(first.peer.seen().requests == 4);
  first.go.set();
  CHECK(live.read_response().status() == 200);
  CHECK(desk.come_to(1, "state=succeeded&route=export"));
}
