// limits.drain_delay_ms: between the signal and the drain the proxy says that it is not ready, and
// serves as before.
#include <doctest/doctest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "support/counting_backend.hpp"
#include "support/held_peer.hpp"
#include "support/proxy_process.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/stopwatch.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr int kHour = 3'600'000;

json with_delay(int delay, int timeout = 30'000) {
  return {{"limits", {{"drain_delay_ms", delay}, {"drain_timeout_ms", timeout}}},
          {"log", {{"level", "info"}}}};
}

Message page(const ProxyProcess& proxy, const std::string& path) {
  return RawClient(proxy.admin_port()).ask("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

bool is_in_phase(const ProxyProcess& proxy, const std::string& phase) {
  return page(proxy, "/metrics").body.find("\nspillway_phase{phase=\"" + phase + "\"} 1\n") !=
         std::string::npos;
}

// A proxy that defers, in this process, so that the test says when its drain begins.
json deferring_in(const TemporaryDirectory& directory, const std::string& server, json defer) {
  json settings =
      deferring({{"store", {{"url", "sqlite:" + (directory.path() / "jobs.db").string()}}}});
  settings["routes"][0]["defer"] = std::move(defer);
  return configuration({server}, settings);
}

}  // namespace

TEST_CASE("in the drain's delay the proxy is not ready and serves as before") {
  CountingBackend backend({});
  ProxyProcess proxy(configuration({backend.address()}, with_delay(kHour)));
  RawClient known(proxy.port());
  CHECK(known.ask(get("/")).status() == 200);
  CHECK(page(proxy, "/readyz").status() == 200);
  CHECK(is_in_phase(proxy, "serving"));
  proxy.process().signal(SIGTERM);
  REQUIRE(proxy.process().wait_for_output(R"("event":"drain_delay","connections":)"));
  REQUIRE(proxy.process().wait_for_output(R"("delay_ms":3600000)"));

  const Message ready = page(proxy, "/readyz");
  CHECK(ready.status() == 503);
  CHECK(ready.body.find("\"draining\"") != std::string::npos);
  CHECK(page(proxy, "/healthz").status() == 200);
  const json state = json::parse(page(proxy, "/state").body);
  CHECK(state["phase"] == "drain_delay");
  CHECK(state["draining"] == false);
  CHECK(is_in_phase(proxy, "drain_delay"));
  CHECK_FALSE(is_in_phase(proxy, "serving"));
  RawClient late(proxy.port());
  for (RawClient* client : {&known, &late}) {
    for (int n = 0; n < 2; ++n) {
      const Message answer = client->ask(get("/"));
      CHECK(answer.status() == 200);
      CHECK_FALSE(answer.field("Connection"));
    }
  }

  proxy.process().signal(SIGHUP);
  CHECK(proxy.process().wait_for_output("the configuration stays as it is"));
  SUBCASE("a second signal ends it") { proxy.process().signal(SIGTERM); }
  SUBCASE("of either kind") { proxy.process().signal(SIGQUIT); }
  SUBCASE("as SIGINT does") { proxy.process().signal(SIGINT); }
  CHECK(proxy.process().wait(5s) == 0);
  CHECK(proxy.process().err().find(R"("event":"draining")") == std::string::npos);
}

TEST_CASE("after its delay the drain begins, and has all of its time") {
  HeldPeer held;
  ProxyProcess proxy(configuration({held.peer.address()}, with_delay(300, 400)));
  const RawClient client = held.asking(proxy);
  const Stopwatch stopwatch;
  proxy.process().signal(SIGTERM);
  REQUIRE(proxy.process().wait_for_output(R"("event":"draining")"));
  CHECK(stopwatch.elapsed() >= 295ms);
  CHECK(page(proxy, "/readyz").status() == 503);
  CHECK(is_in_phase(proxy, "draining"));
  CHECK(json::parse(page(proxy, "/state").body)["draining"] == true);
  CHECK(proxy.process().wait() == 0);
  CHECK(stopwatch.elapsed() >= 690ms);
  CHECK(proxy.process().err().find("drain timeout after 400 ms: closed 1 request") !=
        std::string::npos);
}

TEST_CASE("a proxy that has nothing to do waits for the end of the delay, too") {
  ProxyProcess proxy(configuration({"127.0.0.1:1"}, with_delay(300)));
  const Stopwatch stopwatch;
  proxy.process().signal(SIGQUIT);
  CHECK(proxy.process().wait() == 0);
  CHECK(stopwatch.elapsed() >= 295ms);
}

TEST_CASE("what the drain defers is forwarded in its delay") {
  ScriptedPeer backend(ok("done"));
  const TemporaryDirectory directory;
  ProxyUnderTest proxy(deferring_in(directory, backend.address(), {{"when", "overloaded"}}));
  RawClient client(proxy.port()), other(proxy.port());
  CHECK(other.ask(post("/export/1", "x")).status() == 200);
  proxy.server().begin_drain_delay(Milliseconds{kHour});
  CHECK(proxy.admin("/readyz").status() == 503);
  for (int n = 0; n < 3; ++n) {
    const Message answer = client.ask(post("/export/1", "x"));
    CHECK(answer.status() == 200);
    CHECK_FALSE(answer.field("Connection"));
  }
  proxy.server().begin_drain();
  // The drain may begin between a request and its response, which then has the field.
  Message answer = client.ask(post("/export/1", "x"));
  for (const Deadline deadline; !answer.field("Connection") && !deadline.passed();)
    answer = client.ask(post("/export/1", "x"));
  CHECK(other.ask(post("/export/1", "x")).status() == 202);
}

TEST_CASE("jobs are taken on in the delay, and not in the drain") {
  ScriptedPeer backend(ok("done"));
  const TemporaryDirectory directory;
  ProxyUnderTest proxy(deferring_in(directory, backend.address(), {{"when", "always"}}));
  const Operator desk{proxy.admin_port()};
  RawClient client(proxy.port());
  const auto defer = [&] { CHECK(client.ask(post("/export/1", "x")).status() == 202); };
  proxy.server().begin_drain_delay(Milliseconds{kHour});
  defer();
  CHECK(desk.come_to(1, "state=succeeded"));
  proxy.server().begin_drain();
  defer();
  CHECK(desk.get("/jobs?state=queued").at("jobs").size() == 1);
}
