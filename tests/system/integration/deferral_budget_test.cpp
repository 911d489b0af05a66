// A tenant whose budget is spent, on a route that defers every request.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "system/integration/jobs_operator.hpp"
#include "system/integration/refusal.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kKey = "X-Api-Key: acme-key-0\r\n";

json of_a_tenant(bool include_limits) {
  const json tenant{
      {"name", "acme"}, {"key", "acme-key-0"}, {"budget", {{"rate", 0.001}, {"burst", 1}}}};
  json changes = deferring({{"tenants", {{"api_keys", {tenant}}}}});
  changes["routes"][0]["defer"]["include_limits"] = include_limits;
  return changes;
}

}  // namespace

TEST_CASE("where every request is deferred, one beyond the budget is refused and becomes no job") {
  RejectingBackend backend;
  backend.accepts = true;
  ProxyUnderTest proxy(backend.peer.address(), of_a_tenant(false));
  const Operator desk{proxy.admin_port()};
  RawClient client(proxy.port());
  CHECK(client.ask(post("/export/1", "x", kKey)).status() == 202);
  check_refusal(client.ask(post("/export/2", "x", kKey)), 429, "P2", "BUDGET_EXCEEDED");
  CHECK(client.ask(post("/export/3", "x")).status() == 202);  // of another tenant
  REQUIRE(desk.come_to(2, "state=succeeded"));
  CHECK(desk.get("/jobs").at("jobs").size() == 2);
  CHECK(proxy.metric("spillway_jobs_accepted_total") == 2);
}

TEST_CASE("control: with include_limits it does become one") {
  RejectingBackend backend;
  backend.accepts = true;
  ProxyUnderTest proxy(backend.peer.address(), of_a_tenant(true));
  RawClient client(proxy.port());
  for (const char* const target : {"/export/1", "/export/2"})
    CHECK(client.ask(post(target, "x", kKey)).status() == 202);
  CHECK(Operator{proxy.admin_port()}.come_to(2, "state=succeeded"));
}
