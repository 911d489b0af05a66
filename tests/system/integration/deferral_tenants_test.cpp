// The places of a route's jobs are divided among tenants.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr int kMost = 20;
constexpr const char* kAttacker = "127.0.0.2";

// One job runs, then none for a quarter of an hour.
json full_at(const std::string& url) {
  json settings = deferring({{"store", {{"url", url}}}});
  settings["routes"][0]["defer"].update({{"max_pending", kMost}, {"rate", 0.001}});
  return settings;
}

void run_the_one(const ProxyUnderTest& proxy) {
  const Message done = RawClient(proxy.port()).ask(post("/export/1", "x", "Prefer: wait=30\r\n"));
  REQUIRE(done.status() == 200);
}

// How many are deferred; the last message is the first that is not.
int take_all(RawClient& client, Message& refused, const std::string& lines = {}) {
  for (int n = 0; n <= kMost; ++n) {
    refused = client.ask(post("/export/1", "x", lines));
    if (refused.status() != 202) return n;
  }
  return kMost + 1;
}

}  // namespace

TEST_CASE("a client that defers all it can leaves room for others") {
  const ScriptedPeer backend(ok("done"));
  json settings = full_at("memory:");
  const TemporaryDirectory directory;
  SUBCASE("in memory") {}
  SUBCASE("in a file") { settings = full_at("sqlite:" + (directory.path() / "jobs.db").string()); }
  const ProxyUnderTest proxy(backend.address(), settings);
  run_the_one(proxy);
  RawClient attacker(proxy.port(), 0, kAttacker), honest(proxy.port(), 0, "127.0.0.3");
  Message refused;
  CHECK(take_all(attacker, refused) == 15);
  CHECK(refused.status() == 503);
  CHECK(refused.body.find("STORE_FULL") != std::string::npos);
  CHECK(refused.body.find("of this client") != std::string::npos);
  CHECK(refused.field("Retry-After"));
  CHECK(take_all(honest, refused) == 4);
  CHECK(take_all(attacker, refused) == 0);
}

TEST_CASE(
    "control: a trusted peer that names no client has all places, and clients that it names a "
    "share") {
  const ScriptedPeer backend(ok("done"));
  json settings = full_at("memory:");
  settings["trusted_peers"] = {kAttacker};
  const ProxyUnderTest proxy(backend.address(), settings);
  run_the_one(proxy);
  RawClient peer(proxy.port(), 0, kAttacker);
  Message refused;
  CHECK(take_all(peer, refused, "X-Forwarded-For: 192.0.2.1\r\n") == 15);
  CHECK(take_all(peer, refused) == 5);
  CHECK(refused.body.find("no room to keep") != std::string::npos);
}

TEST_CASE("after a restart another client finds room all the same") {
  const ScriptedPeer backend(ok("done"));
  const TemporaryDirectory directory;
  const json settings = full_at("sqlite:" + (directory.path() / "jobs.db").string());
  Message refused;
  {
    const ProxyUnderTest proxy(backend.address(), settings);
    run_the_one(proxy);
    RawClient attacker(proxy.port(), 0, kAttacker);
    CHECK(take_all(attacker, refused) == 15);
  }
  const ProxyUnderTest proxy(backend.address(), settings);
  RawClient attacker(proxy.port(), 0, kAttacker), honest(proxy.port(), 0, "127.0.0.3");
  take_all(attacker, refused);
  CHECK(honest.ask(post("/export/1", "x")).status() == 202);
}
