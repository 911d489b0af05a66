// What a tenant's share refuses on a route that defers what there is no room for.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "system/integration/refusal.hpp"
#include "system/integration/unequal.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr int kRefusals = 5;

// /later is deferred where there is no room, /p1 is not: both are of P1.
json with_later(bool include_limits) {
  json later = route("later", "P1");
  later["defer"] = {{"include_limits", include_limits}};
  return {{"store", {{"url", "memory:"}}}, {"more_routes", json::array({later})}};
}

std::string acme(int) { return kAcme; }

Message ask_for_later(RawClient& client, const std::string& tenant) {
  return client.ask(post("/later", "x", tenant));
}

}  // namespace

TEST_CASE("what a tenant's share refuses is not deferred, and what there is no room for is") {
  Unequal tenants(true, acme, with_later(false));
  tenants.ask();
  REQUIRE(tenants.of_frequent_client.contains("TENANT_SHARE"));
  RawClient frequent(tenants.proxy.port()), rare(tenants.proxy.port());
  int deferred = 0, refused = 0;
  for (const Deadline deadline; refused < kRefusals && !deadline.passed();) {
    const Message answer = ask_for_later(frequent, kAcme);
    if (answer.status() == 202) {  // within its share, and no place in the queue
      ++deferred;
      continue;
    }
    check_refusal(answer, 429, "P1", "TENANT_SHARE");
    ++refused;
  }
  CHECK(refused == kRefusals);
  CHECK(ask_for_later(rare, kBee).status() == 202);
  CHECK(tenants.proxy.metric("spillway_jobs_accepted_total") == deferred + 1);
}

TEST_CASE("control: with include_limits it is deferred as well") {
  Unequal tenants(true, acme, with_later(true));
  tenants.ask();
  RawClient frequent(tenants.proxy.port());
  int deferred = 0, refused = 0;
  for (const Deadline deadline; refused < kRefusals && !deadline.passed(); ++deferred) {
    REQUIRE(ask_for_later(frequent, kAcme).status() == 202);
    refused += reason_of(frequent.ask(get("/p1", kAcme))) == "TENANT_SHARE";
  }
  CHECK(refused == kRefusals);
  CHECK(deferred >= kRefusals);
  CHECK(tenants.proxy.metric("spillway_jobs_accepted_total") == deferred);
}
