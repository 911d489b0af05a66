// Servers that are asked whether they are well.
#include <doctest/doctest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/mortal_server.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

json checked_over(const std::vector<std::string>& servers, const json& changes = json::object()) {
  json check = {{"path", "/up"},
                {"interval_ms", 100},
                {"timeout_ms", 100},
                {"healthy_after", 2},
                {"unhealthy_after", 3}};
  check.merge_patch(changes);
  return configuration(servers, never_shed({{"app", {{"health_check", check}}}}));
}

bool health_becomes(const ProxyUnderTest& proxy, std::size_t server, const char* health) {
  return proxy.state_becomes([&](const json& state) {
    return state["upstreams"][0]["servers"][server]["health"] == health;
  });
}

std::string checks(const std::string& server, std::string_view result) {
  return "spillway_health_checks_total{upstream=\"app\",server=\"" + server + "\",result=\"" +
         std::string(result) + "\"}";
}

}  // namespace

TEST_CASE("a server that says it is unwell is left out though it serves and taken back") {
  std::array<MortalServer, 2> servers;
  const ProxyUnderTest proxy(checked_over({servers[0].address(), servers[1].address()}));
  RawClient client(proxy.port());
  for (int n = 0; n < 10; ++n) CHECK(client.ask(get("/")).status() == 200);
  CHECK(servers[0].requests() == 5);
  CHECK(health_becomes(proxy, 0, "healthy"));

  servers[0].answer_checks_with(500);
  CHECK(health_becomes(proxy, 0, "unhealthy"));
  CHECK(proxy.state()["upstreams"][0]["servers"][0]["up"] == false);
  CHECK(proxy.metric(checks(servers[0].address(), "failure")) >= 3);
  const auto before = servers[0].requests();
  for (int n = 0; n < 20; ++n) CHECK(client.ask(get("/")).status() == 200);
  CHECK(servers[0].requests() == before);
  CHECK(proxy.admin("/readyz").status() == 200);
  // Its idle connections were closed: what is left are those of checks.
  CHECK(proxy.state_becomes([](const json& state) {
    int open = 0;
    for (const json& worker : state["workers"]) open += worker["upstream_connections"].get<int>();
    return open == 1;
  }));

  servers[0].answer_checks_with(204);
  CHECK(health_becomes(proxy, 0, "healthy"));
  for (int n = 0; n < 20; ++n) CHECK(client.ask(get("/")).status() == 200);
  CHECK(servers[0].requests() == before + 10);
}

TEST_CASE("servers that are all unhealthy are still used and /readyz says not ready") {
  std::array<MortalServer, 2> servers;
  for (MortalServer& server : servers) server.answer_checks_with(404);
  const ProxyUnderTest proxy(checked_over({servers[0].address(), servers[1].address()}));
  CHECK(health_becomes(proxy, 0, "unhealthy"));
  CHECK(health_becomes(proxy, 1, "unhealthy"));
  RawClient client(proxy.port());
  for (int n = 0; n < 20; ++n) CHECK(client.ask(get("/")).status() == 200);
  CHECK(servers[0].requests() == 10);
  CHECK(servers[1].requests() == 10);
  const Message not_ready = proxy.admin("/readyz");
  CHECK(not_ready.status() == 503);
  CHECK(not_ready.body.find("no live upstream") != std::string::npos);
  servers[1].answer_checks_with(200);
  CHECK(health_becomes(proxy, 1, "healthy"));
  CHECK(proxy.admin("/readyz").status() == 200);
}

TEST_CASE("without a path a connection says that a server is well") {
  MortalServer server, dead;
  dead.die();
  const ProxyUnderTest proxy(checked_over({server.address(), dead.address()}, {{"path", ""}}));
  CHECK(health_becomes(proxy, 0, "healthy"));
  CHECK(health_becomes(proxy, 1, "unhealthy"));
  CHECK(server.checks() == 0);
  dead.revive();
  CHECK(health_becomes(proxy, 1, "healthy"));
}

TEST_CASE("a server that is back is used at once though it was ejected for long") {
  std::array<MortalServer, 2> servers;
  json settings = checked_over({servers[0].address(), servers[1].address()});
  settings["upstreams"][0]["ejection"] = {{"consecutive_failures", 1}, {"base_ms", 300'000}};
  const ProxyUnderTest proxy(settings);
  CHECK(health_becomes(proxy, 0, "healthy"));
  servers[0].die();
  RawClient client(proxy.port());
  for (int n = 0; n < 4; ++n) CHECK(client.ask(get("/")).status() == 200);
  CHECK(proxy.state()["upstreams"][0]["servers"][0]["ejected_for_ms"] > 200'000);
  CHECK(health_becomes(proxy, 0, "unhealthy"));
  servers[0].revive();
  CHECK(health_becomes(proxy, 0, "healthy"));
  for (int n = 0; n < 4; ++n) CHECK(client.ask(get("/")).status() == 200);
  CHECK(servers[0].requests() == 2);
}

TEST_CASE("a check that keeps passing does not take back a server that fails its requests") {
  std::array<MortalServer, 2> servers;
  json settings = checked_over({servers[0].address(), servers[1].address()});
  settings["upstreams"][0]["ejection"] = {{"consecutive_failures", 1}, {"base_ms", 300'000}};
  const ProxyUnderTest proxy(settings);
  CHECK(health_becomes(proxy, 0, "healthy"));
  servers[0].answer_with(500);
  RawClient client(proxy.port());
  for (int n = 0; n < 4; ++n) client.ask(get("/"));
  CHECK(servers[0].requests() == 1);
  const auto before = servers[0].checks();
  const Deadline deadline;
  while (servers[0].checks() < before + 5 && !deadline.passed()) client.ask(get("/"));
  CHECK(servers[0].requests() == 1);
  CHECK(proxy.state()["upstreams"][0]["servers"][0]["health"] == "healthy");
}

TEST_CASE("without health checks no server is probed") {
  MortalServer server;
  const ProxyUnderTest proxy(configuration({server.address()}));
  RawClient client(proxy.port());
  for (int n = 0; n < 10; ++n) CHECK(client.ask(get("/")).status() == 200);
  CHECK(server.accepted() == 1);
  CHECK(proxy.metrics().find("spillway_health_checks_total") == std::string::npos);
  CHECK(proxy.state()["upstreams"][0]["servers"][0]["health"].is_null());
}

}  // namespace spillway::support
