// Attempts of deferred requests: how long one may take, and how many may follow those that failed.
#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "support/proxy_process.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/workshop.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
constexpr const char* kFailed = "HTTP/1.1 500 Failed\r\nContent-Length: 0\r\n\r\n";
constexpr const char* kNoBudget = R"(spillway_retries_total{upstream="app",result="no_budget"})";

json settings(const std::string& server, json app, json defer) {
  defer["when"] = "always";
  return configuration(
      {server},
      {{"store", {{"url", "memory:"}}},
       {"workers", 1},
       {"app", std::move(app)},
       {"routes",
        {{{"name", "export"}, {"match", {{"path", "/export/**"}}}, {"defer", std::move(defer)}}}}});
}

json retries(double per_second) {
  return {{"retries", {{"budget_ratio", 0}, {"budget_per_second", per_second}}},
          {"ejection", {{"consecutive_failures", 0}}}};
}

}  // namespace

TEST_CASE("a deferred request may be answered later than a live one, up to its lease_ms") {
  Event go;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (!proxy.wait(go)) return;
      proxy.send(kOk);
    }
  });
  const auto send_both = [&](const json& defer) {
    auto proxy = std::make_unique<ProxyUnderTest>(
        settings(peer.address(), {{"response_timeout_ms", 300}}, defer));
    support::defer(proxy->port(), "/export/1");
    REQUIRE(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
    // Sent later than the job, so that the job has waited as long.
    CHECK(RawClient(proxy->port()).ask(get("/live")).status() == 504);
    return proxy;
  };
  SUBCASE("with a long one") {
    const auto proxy = send_both({{"lease_ms", 60'000}});
    go.set();
    CHECK(Operator{proxy->admin_port()}.come_to(1, "state=succeeded"));
  }
  SUBCASE("the control: its lease_ms ends it") {
    const auto proxy = send_both({{"lease_ms", 1000}});
    CHECK(Operator{proxy->admin_port()}.come_to(1, "state=dead"));
  }
  SUBCASE("the control: without one its response_timeout_ms ends it") {
    const auto proxy = send_both(json::object());
    CHECK(Operator{proxy->admin_port()}.come_to(1, "state=dead"));
  }
}

TEST_CASE("while a job that timed out holds its slot neither the next one nor its retry begins") {
  json defer;
  SUBCASE("with concurrency") { defer["concurrency"] = 1; }
  SUBCASE("in an order") { defer["order_by"] = "X-Account"; }
  SUBCASE("its own retry") {
    defer = {{"concurrency", 1},
             {"retry_unanswered", true},
             {"backoff", {{"base_ms", 1}, {"max_ms", 1}}}};
  }
  Workshop shop;
  json app = retries(1000);
  app["response_timeout_ms"] = 300;
  const ProxyUnderTest proxy(settings(shop.peer.address(), app, defer));
  const Operator desk{proxy.admin_port()};
  for (const char* target : {"/export/1", "/export/2"})
    support::defer(proxy.port(), target, "x", "X-Account: 7\r\n");
  REQUIRE(proxy.metric_becomes("spillway_abandoned_requests", 1));
  // Takes as long as the other job would need to begin.
  CHECK(RawClient(proxy.port()).ask(get("/live")).status() == 504);
  CHECK(shop.peer.seen().requests == 2);
  CHECK(desk.get("/jobs?state=leased").at("jobs").size() == 1);
  shop.go.set();
  CHECK(desk.come_to(2, "state=succeeded"));
  CHECK(shop.peer.seen().requests == 3);
}

TEST_CASE("a job that failed is tried again only within the upstream's retry budget") {
  std::atomic<int> asked{0};
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (proxy.read_request()) {
      ++asked;
      proxy.send(kFailed);
    }
  });
  const json defer{{"max_attempts", 4}, {"backoff", {{"base_ms", 200}, {"max_ms", 200}}}};
  SUBCASE("of which one retry is left") {
    ProxyUnderTest proxy(settings(peer.address(), retries(0.1), defer));
    const std::string id = support::defer(proxy.port(), "/export/1");
    const Deadline deadline;
    while (proxy.metric(kNoBudget) < 1 && !deadline.passed()) {
    }
    CHECK(proxy.metric(kNoBudget) >= 1);
    CHECK(asked == 2);
    const json job = json::parse(RawClient(proxy.port()).ask(get("/_spillway/jobs/" + id)).body);
    CHECK_MESSAGE(job.value("attempts", 0) == 2, "to be put off is no attempt");
    CHECK(job.value("state", "") != "dead");
    CHECK(proxy.metric(R"(spillway_retries_total{upstream="app",result="sent"})") == 1);
  }
  SUBCASE("the control: with budget enough until its attempts are spent") {
    ProxyUnderTest proxy(settings(peer.address(), retries(100), defer));
    support::defer(proxy.port(), "/export/1");
    CHECK(Operator{proxy.admin_port()}.come_to(1, "state=dead"));
    CHECK(asked == 4);
    CHECK(proxy.metric(kNoBudget) == 0);
  }
}

TEST_CASE("a retry of a job that succeeds leaves the budget to the next one") {
  std::mutex mutex;
  std::map<std::string, int> times;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      const std::lock_guard lock(mutex);
      proxy.send(++times[std::string(request->target())] == 1 ? kFailed : kOk);
    }
  });
  ProxyUnderTest proxy(
      settings(peer.address(), retries(0.1), {{"backoff", {{"base_ms", 1}, {"max_ms", 1}}}}));
  const Operator desk{proxy.admin_port()};
  for (std::size_t n = 1; n <= 5; ++n) {
    support::defer(proxy.port(), "/export/" + std::to_string(n));
    REQUIRE(desk.come_to(n, "state=succeeded"));
  }
  CHECK(proxy.metric(kNoBudget) == 0);
  CHECK(proxy.metric(R"(spillway_retries_total{upstream="app",result="success"})") == 5);
}

TEST_CASE(
    "the log tells when a job is taken in hand and when it is replayed, metrics how many were") {
  RejectingBackend backend;
  ProxyProcess proxy(
      configuration({backend.peer.address()}, deferring({{"log", {{"level", "debug"}}}})));
  const Operator desk{proxy.admin_port()};
  const std::string id = support::defer(proxy.port(), "/export/1").substr(0, 16);
  CHECK(proxy.process().wait_for_output(
      "\"id\":\"" + id +
      R"(","route":"export","tenant":"127.0.0.1","state":"leased","attempts":0})"));
  REQUIRE(desk.come_to(1, "state=dead"));
  desk.post("/jobs/replay", {{"dry_run", false}, {"limit", 1}});
  CHECK(proxy.process().wait_for_output(
      "\"id\":\"" + id + R"(","route":"export","tenant":"127.0.0.1","state":"queued")"));
  const std::string page = desk.ask("GET", "/metrics").body;
  CHECK(page.find("\nspillway_jobs_replayed_total 1\n") != std::string::npos);
}

TEST_CASE(
    "an answer that breaks off counts by its head if that says that nothing was done, else once") {
  const auto ends = [](const std::string& head) {
    std::atomic<int> requests = 0;
    ScriptedPeer peer([&](PeerConnection& proxy) {
      while (proxy.read_request()) {
        ++requests;
        proxy.send(head + "\r\nContent-Length: 100\r\n\r\nsome");
        return;
      }
    });
    ProxyUnderTest proxy(
        settings(peer.address(), retries(100),
                 {{"max_attempts", 3}, {"backoff", {{"base_ms", 1}, {"max_ms", 1}}}}));
    support::defer(proxy.port(), "/export/1");
    CHECK(Operator{proxy.admin_port()}.come_to(1, "state=dead"));
    return requests.load();
  };
  CHECK(ends("HTTP/1.1 200 OK") == 1);  // POST: the upstream may have done its work
  CHECK(ends("HTTP/1.1 503 Busy") == 3);
  CHECK(ends("HTTP/1.1 500 Failed") == 3);
}

TEST_CASE("jobs that are deleted after their result_ttl_ms are counted") {
  ScriptedPeer peer(kOk);
  ProxyUnderTest proxy(settings(peer.address(), json::object(), {{"result_ttl_ms", 1000}}));
  support::defer(proxy.port(), "/export/1");
  CHECK(proxy.metric_becomes("spillway_jobs_forgotten_total", 1));
}
