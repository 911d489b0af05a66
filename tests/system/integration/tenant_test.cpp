// Which requests count as one tenant's, which claims of a client are believed, and which tenant is
// refused first.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "system/integration/access_line.hpp"
#include "system/integration/overloaded.hpp"
#include "system/integration/refusal.hpp"
#include "system/integration/unequal.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

struct Claims {
  explicit Claims(json settings)
      : proxy(overloadable(peer.address(), logging(std::move(settings)))) {}

  static json logging(json settings) {
    settings["log"] = {{"access_sample", 1}};
    settings["tenants"]["api_keys"] = kKeys;
    return settings;
  }

  json of(const std::string& lines, const std::string& target = "/p1") {
    const std::string id = "claim-" + std::to_string(++asked) + ".";
    RawClient client(proxy.port());
    CHECK(client.ask(get(target, lines + "X-Request-Id: " + id + "\r\n")).status() == 200);
    return access_line(proxy, id);
  }

  ScriptedPeer peer{ok("hi")};
  ProxyProcess proxy;
  int asked = 0;
};

void check_claim(const json& line, const char* tenant, const char* traffic_class) {
  INFO(line.dump());
  CHECK(line["tenant"] == tenant);
  CHECK(line["class"] == traffic_class);
}

}  // namespace

TEST_CASE("a tier is one line: a hashed key with its class and rate limit") {
  ScriptedPeer peer{ok("hi")};
  json settings;
  // Of "acme-secret-1".
  settings["tenants"]["api_keys"] = {
      {{"name", "acme"},
       {"sha256", "5cd759cff28c2c3fb9d2eb3b362bc6f37f475c26ea50067c319744a7c1dcca51"},
       {"class", "P0"},
       {"budget", {{"rate", 0.01}, {"burst", 3}}}}};
  ProxyUnderTest proxy(overloadable(peer.address(), settings));
  RawClient client(proxy.port());
  for (int i = 0; i < 3; ++i) CHECK(client.ask(get("/p1", kAcme)).status() == 200);
  const Message refused = client.ask(get("/p1", kAcme));
  check_refusal(refused, 429, "P0", "BUDGET_EXCEEDED");
  // Others have no rate limit, and nothing is overloaded.
  for (int i = 0; i < 10; ++i) CHECK(client.ask(get("/p1", kBee)).status() == 200);
  CHECK(client.ask(get("/p1")).status() == 200);
  CHECK(proxy.metric(R"(spillway_denied_total{class="P0",reason="BUDGET_EXCEEDED"})") == 1);
  CHECK(state_is(proxy.state(), "NORMAL"));
}

TEST_CASE("for lack of room a tenant above its share gets 429 and the other is served") {
  Unequal tenants(true);
  tenants.ask();
  CHECK(tenants.of_frequent_client.contains("TENANT_SHARE"));
  CHECK_FALSE(tenants.of_rare_client.contains("TENANT_SHARE"));
  const auto is_acme = [](const json& state) {
    const json& above = state["upstreams"][0]["tenants_above_share"];
    return above.size() == 1 && above[0]["class"] == "P1" && above[0]["tenant"] == "api_key acme" &&
           above[0]["excess"] > 0.5;
  };
  CHECK(tenants.proxy.state_becomes(is_acme));
  CHECK(tenants.proxy.metric(R"(spillway_denied_total{class="P1",reason="TENANT_SHARE"})") > 0);

  // There is a place again: the rare one takes it.
  const char* const depth = R"(spillway_queue_depth{upstream="app",class="P1"})";
  tenants.queued.pop_back();
  REQUIRE(tenants.proxy.metric_becomes(depth, 7));
  RawClient rare(tenants.proxy.port());
  rare.send(get("/p1/rare", kBee));
  REQUIRE(tenants.proxy.metric_becomes(depth, 8));
  tenants.crowd.disperse();
  CHECK(rare.read_response().body == "/p1/rare");
  // Now that there is room the frequent one is served too.
  for (RawClient& one : tenants.queued) CHECK(one.read_response().status() == 200);
  for (RawClient& one : tenants.queued_rare) CHECK(one.read_response().status() == 200);
  CHECK(state_is(tenants.proxy.state(), "OVERLOADED"));
  CHECK(RawClient(tenants.proxy.port()).ask(get("/p1", kAcme)).status() == 200);
}

TEST_CASE("without fairness no tenant is refused for its share") {
  Unequal tenants(false);
  tenants.ask(400ms);  // far longer than it takes with fairness
  CHECK(tenants.of_frequent_client == std::set<std::string>{"QUEUE_FULL"});
  CHECK(tenants.of_rare_client == std::set<std::string>{"QUEUE_FULL"});
  CHECK(tenants.above_share().empty());
}

TEST_CASE("a client that makes up tenants and keys stays one tenant by its address") {
  int made_up = 0;
  Unequal tenants(true, [&](int) {
    const std::string name = std::to_string(++made_up);
    return "X-Tenant: t" + name + "\r\nX-Api-Key: made-up-key-" + name +
           "\r\nX-Forwarded-For: 192.0.2." + std::to_string(made_up % 250) + "\r\n";
  });
  tenants.ask();
  CHECK(tenants.of_frequent_client.contains("TENANT_SHARE"));
  CHECK_FALSE(tenants.of_rare_client.contains("TENANT_SHARE"));
  CHECK(tenants.proxy.state_becomes([](const json& state) {
    const json& above = state["upstreams"][0]["tenants_above_share"];
    return above.size() == 1 && above[0]["tenant"] == "client_address 127.0.0.1";
  }));
}

TEST_CASE("an untrusted client's claims change neither its tenant nor its class") {
  const json peers = {"192.0.2.0/24"};
  Claims claims({{"trusted_peers", peers}, {"trusted_headers", kNamed}});
  check_claim(claims.of(""), "127.0.0.1", "P1");
  check_claim(claims.of("X-Tenant: acme\r\n"), "127.0.0.1", "P1");
  check_claim(claims.of("X-Priority: 100\r\n"), "127.0.0.1", "P1");
  check_claim(claims.of("X-Priority: 100\r\n", "/p2"), "127.0.0.1", "P2");
  check_claim(claims.of("X-Api-Key: guessed-key\r\n"), "127.0.0.1", "P1");
  check_claim(claims.of("X-Forwarded-For: 192.0.2.7\r\n"), "127.0.0.1", "P1");
  check_claim(claims.of(kAcme + "X-Tenant: bee\r\n"), "acme", "P1");
  check_claim(claims.of(kBee), "bee", "P1");
}

TEST_CASE("a key that comes twice sheds neither class nor rate limit") {
  ScriptedPeer peer{ok("hi")};
  json settings;
  settings["tenants"]["api_keys"] = {{{"name", "acme"},
                                      {"key", "acme-secret-1"},
                                      {"class", "P2"},
                                      {"budget", {{"rate", 0.01}, {"burst", 1}}}}};
  const ProxyUnderTest proxy(overloadable(peer.address(), settings));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/p0", kAcme)).status() == 200);
  CHECK(client.ask(get("/p0", kAcme)).status() == 429);
  for (const std::string& lines :
       {kAcme + kAcme, kAcme + "X-Api-Key: x\r\n", "x-api-key:\r\n" + kAcme, kAcme + kBee,
        std::string("X-Api-Key: acme-secret-1, x\r\n")}) {
    CAPTURE(lines);
    const Message answer = RawClient(proxy.port()).ask(get("/p0", lines));
    CHECK(answer.status() == 400);
    CHECK(answer.body.find("X-Api-Key or the like") != std::string::npos);
  }
  // An alias that CGI cannot tell from it does not go on.
  CHECK(RawClient(proxy.port()).ask(get("/p0", "X_Api_Key: acme-secret-1\r\n")).status() == 200);
  CHECK(peer.seen().requests == 2);
  CHECK(peer.seen().received.back().find("Api_Key") == std::string::npos);
  const std::string twice = "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n";
  CHECK(RawClient(proxy.port()).ask(get("/p0", twice)).status() == 400);
}

TEST_CASE("a trusted peer's word about tenant and priority and client counts") {
  Claims claims({{"trusted_peers", {"127.0.0.0/8"}}, {"trusted_headers", kNamed}});
  check_claim(claims.of(""), "127.0.0.1", "P1");
  check_claim(claims.of("X-Tenant: customer-9\r\n"), "customer-9", "P1");
  check_claim(claims.of("X-Priority: 100\r\n"), "127.0.0.1", "P0");
  check_claim(claims.of("X-Priority: 0\r\nX-Tenant: customer-9\r\n", "/p0"), "customer-9", "P2");
  check_claim(claims.of("X-Priority: 101\r\n", "/p2"), "127.0.0.1", "P2");
  check_claim(claims.of("X-Forwarded-For: 192.0.2.7\r\n"), "192.0.2.7", "P1");
  check_claim(claims.of(kAcme + "X-Tenant: customer-9\r\n"), "acme", "P1");
  // Its client's beside its own.
  const std::string twice = "X-Priority: 99\r\nX-Priority: 0\r\n";
  CHECK(RawClient(claims.proxy.port()).ask(get("/p1", twice)).status() == 400);
}

TEST_CASE("of a trusted peer only the fields that the configuration names are believed") {
  const json settings = {{"trusted_peers", {"127.0.0.0/8"}}};
  Claims claims(settings);
  check_claim(claims.of("X-Tenant: customer-9\r\n"), "127.0.0.1", "P1");
  check_claim(claims.of("X-Priority: 100\r\n"), "127.0.0.1", "P1");
  check_claim(claims.of("X-Forwarded-For: 192.0.2.7\r\n"), "192.0.2.7", "P1");
}

TEST_CASE("the configured order of keys decides which claim comes first") {
  Claims claims({{"trusted_peers", {"127.0.0.0/8"}},
                 {"tenants", {{"key", {"trusted_header", "client_address"}}}},
                 {"trusted_headers", {{"tenant", "X-Customer"}, {"priority", ""}}}});
  check_claim(claims.of(kAcme + "X-Customer: nine\r\n"), "nine", "P1");
  check_claim(claims.of(kAcme + "X-Tenant: nine\r\nX-Priority: 100\r\n"), "127.0.0.1", "P1");
}

}  // namespace spillway
