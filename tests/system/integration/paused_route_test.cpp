// A route whose jobs cannot be forwarded now: it is told apart from one that falls behind.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

std::string of_route(const std::string& metric, const std::string& route) {
  return metric + "{route=\"" + route + "\"}";
}

const std::string kOldest = "spillway_jobs_oldest_claimable_seconds";
const std::string kPaused = "spillway_jobs_paused";

json state_of(const ProxyUnderTest& proxy, const std::string& route) {
  const json state = proxy.state();
  for (const json& one : state.at("jobs").at("routes"))
    if (one.at("route") == route) return one;
  return {};
}

}  // namespace

TEST_CASE("a job that is refused for an hour holds up no other one that its backend answers") {
  ScriptedPeer backend([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      const bool is_broken = request->target().find("broken") != std::string::npos;
      const std::string refusal =
          "HTTP/1.1 503 Shard Lost\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n";
      if (!proxy.send(is_broken ? refusal : ok("done"))) return;
    }
  });
  ProxyUnderTest proxy(backend.address(), deferring());
  const Operator desk{proxy.admin_port()};
  const auto play = [&](std::size_t sound, std::size_t broken) {
    defer(proxy.port(), "/export/sound");
    REQUIRE(desk.come_to(sound, "state=succeeded"));
    defer(proxy.port(), "/export/broken");
    REQUIRE(desk.come_to(broken, "state=retrying"));
  };
  for (std::size_t n = 1; n <= 10; ++n) play(n, n);
  defer(proxy.port(), "/export/broken");
  REQUIRE(desk.come_to(11, "state=retrying"));
  play(11, 12);
  for (const json& job : desk.get("/jobs?state=retrying").at("jobs"))
    CHECK(job.at("attempts") == 1);
  CHECK(proxy.metric_becomes(of_route(kPaused, "export"), 0));
}

TEST_CASE("jobs that wait for an open circuit are not claimable, those without a slot are") {
  Event go;
  const ScriptedPeer sick("HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n");
  ScriptedPeer sound([&](PeerConnection& proxy) {
    while (proxy.read_request()) {
      if (!proxy.wait(go) || !proxy.send(ok("done"))) return;
    }
  });
  const json breaker{
      {"consecutive_failures", 1}, {"open_ms", 3'600'000}, {"max_open_ms", 3'600'000}};
  json settings = configuration({sound.address()}, deferring());
  settings["upstreams"].push_back(
      {{"name", "sick"}, {"servers", {sick.address()}}, {"circuit_breaker", breaker}});
  settings["routes"][0]["upstream"] = "sick";         // export
  settings["routes"][1]["defer"]["concurrency"] = 1;  // mail
  ProxyUnderTest proxy(settings);
  const Operator desk{proxy.admin_port()};

  defer(proxy.port(), "/export/1");
  REQUIRE(desk.come_to(1, "state=retrying&route=export"));
  defer(proxy.port(), "/export/2");
  REQUIRE(proxy.metric_becomes(of_route(kPaused, "export"), 1));
  for (const char* target : {"/export/3", "/export/4", "/mail/1", "/mail/2"})
    defer(proxy.port(), target);
  const Deadline deadline;
  while (proxy.metric(of_route(kOldest, "mail")) < 0.5 && !deadline.passed()) {
  }
  CHECK(proxy.metric(of_route(kOldest, "mail")) >= 0.5);
  CHECK(proxy.metric(of_route(kPaused, "mail")) == 0);
  CHECK(proxy.metric(of_route(kOldest, "export")) == 0);
  CHECK(desk.get("/jobs?state=queued&route=export").at("jobs").size() >= 2);
  CHECK(state_of(proxy, "export").at("paused") == true);
  CHECK(state_of(proxy, "export").at("oldest_claimable_ms") == 0);
  CHECK(state_of(proxy, "mail").at("paused") == false);
  CHECK(sick.seen().requests == 1);
  go.set();
  CHECK(desk.come_to(2, "state=succeeded&route=mail"));
}
