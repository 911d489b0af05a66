// One request at a time: each way to be refused, with its reason, its time and its form.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/counting_backend.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/refusal.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;
using TestClock = std::chrono::steady_clock;

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// A single slot, which the first request holds until `go`.
struct OneSlot {
  explicit OneSlot(const json& classes, const json& changes = json::object())
      : peer([this](PeerConnection& asker) {
          while (asker.read_request()) {
            if (!asker.wait(go) || !asker.send(kOk)) return;
          }
        }),
        proxy(peer.address(), settings(classes, changes)),
        holder(proxy.port()) {
    holder.send(get("/p1"));
    REQUIRE(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  }

  static json settings(const json& classes, const json& changes) {
    json all = {{"classes", classes},
                {"routes",
                 {{{"name", "p0"}, {"match", {{"path", "/p0"}}}, {"class", "P0"}},
                  {{"name", "p1"}, {"match", {{"path", "/p1"}}}, {"class", "P1"}},
                  {{"name", "p2"}, {"match", {{"path", "/p2"}}}, {"class", "P2"}},
                  {{"name", "soon"},
                   {"match", {{"path", "/soon"}}},
                   {"class", "P2"},
                   {"deadline_ms", 60}}}},
                {"dispatch", {{"concurrency", 1}}}};
    all.merge_patch(changes);
    return all;
  }

  // A client that waits in the queue of its class, and is `place`th there.
  RawClient waiting(const std::string& traffic_class, int place) {
    RawClient client(proxy.port());
    const std::string path = traffic_class == "P0" ? "/p0" : traffic_class == "P1" ? "/p1" : "/p2";
    client.send(get(path));
    REQUIRE(proxy.metric_becomes(
        "spillway_queue_depth{upstream=\"app\",class=\"" + traffic_class + "\"}", place));
    return client;
  }

  Event go;
  ScriptedPeer peer;
  ProxyUnderTest proxy;
  RawClient holder;
};

json classes(int max_queue, int max_wait_ms) {
  json all = json::array();
  for (const char* name : {"P0", "P1", "P2"}) {
    all.push_back({{"name", name},
                   {"weight", 1},
                   {"max_queue", max_queue},
                   {"sla_ms", 20'000},
                   {"max_wait_ms", max_wait_ms}});
  }
  return all;
}

double milliseconds_since(TestClock::time_point begin) {
  return std::chrono::duration<double, std::milli>(TestClock::now() - begin).count();
}

}  // namespace

TEST_CASE("a full queue refuses at once and keeps the connection") {
  OneSlot slot(classes(1, 15'000));
  RawClient waiting = slot.waiting("P2", 1);
  RawClient refused(slot.proxy.port());
  check_refusal(refused.ask(get("/p2")), 503, "P2", "QUEUE_FULL");
  slot.go.set();
  CHECK(waiting.read_response().status() == 200);
  CHECK(refused.ask(get("/p2")).status() == 200);
}

TEST_CASE("a full queue of the highest class takes the place of the youngest of the lowest") {
  OneSlot slot(classes(2, 15'000));
  RawClient oldest = slot.waiting("P2", 1), youngest = slot.waiting("P2", 2);
  RawClient first = slot.waiting("P0", 1), second = slot.waiting("P0", 2);
  RawClient third = slot.waiting("P0", 3);
  check_refusal(youngest.read_response(), 503, "P2", "EVICTED");
  slot.go.set();
  for (RawClient* served : {&slot.holder, &oldest, &first, &second, &third}) {
    CHECK(served->read_response().status() == 200);
  }
  CHECK(slot.proxy.metric(R"(spillway_requests_total{route="p2",class="P2",outcome="evicted"})") ==
        1);
  CHECK(slot.peer.seen().requests == 5);  // the evicted one was never forwarded
}

TEST_CASE("a request that has waited max_wait_ms is refused then and never forwarded") {
  OneSlot slot(classes(8, 150));
  double best = 1e9;
  for (int attempt = 0; attempt < 3; ++attempt) {
    RawClient client(slot.proxy.port());
    const auto begin = TestClock::now();
    const Message answer = client.ask(get("/p2"));
    const double took = milliseconds_since(begin);
    check_refusal(answer, 503, "P2", "QUEUE_TIMEOUT");
    CHECK(answer.field("Server-Timing").value_or("").starts_with("queue;dur=1"));
    CHECK(took >= 149);
    best = std::min(best, took);
  }
  CHECK(best <= 180);  // the best of three, since other programs run here too
  slot.go.set();
  CHECK(slot.holder.read_response().status() == 200);
  CHECK(slot.peer.seen().requests == 1);
}

TEST_CASE("a request that waits past its deadline is refused then and never forwarded") {
  OneSlot slot(classes(8, 15'000));
  const auto begin = TestClock::now();
  RawClient client(slot.proxy.port());
  check_refusal(client.ask(get("/soon")), 503, "P2", "DEADLINE_EXPIRED");
  CHECK(milliseconds_since(begin) >= 59);
  slot.go.set();
  CHECK(slot.holder.read_response().status() == 200);
  CHECK(slot.peer.seen().requests == 1);
  CHECK(slot.proxy.metric(R"(spillway_deadline_miss_total{class="P2"})") == 1);
}

TEST_CASE("a deadline that its client chose counts as its error and not as a miss") {
  OneSlot slot(classes(8, 15'000));
  for (const char* field : {"X-Request-Deadline: 30ms\r\n", "grpc-timeout: 30m\r\n"}) {
    RawClient client(slot.proxy.port());
    check_refusal(client.ask(get("/p0", field)), 503, "P0", "DEADLINE_EXPIRED");
  }
  slot.go.set();
  CHECK(slot.holder.read_response().status() == 200);
  CHECK(slot.proxy.metric(R"(spillway_deadline_miss_total{class="P0"})") == 0);
  CHECK(slot.proxy.metric(R"(spillway_errors_total{class="P0",reason="DEADLINE_EXPIRED"})") == 2);
  CHECK(slot.proxy.metric(R"(spillway_denied_total{class="P0",reason="DEADLINE_EXPIRED"})") == 0);
}

TEST_CASE("a deadline that its client chose is its own where slow requests make waits longer") {
  Event go;
  ScriptedPeer peer([&](PeerConnection& asker) {
    while (const auto request = asker.read_request()) {
      const bool is_held =
          request->target() == "/held" ? !asker.wait(go) : asker.wait_closed(600ms);
      if (is_held || !asker.send(kOk)) return;
    }
  });
  const ProxyUnderTest proxy(
      peer.address(), {{"dispatch", {{"concurrency", 20}}}, {"default_route", {{"class", "P0"}}}});
  std::vector<RawClient> crowd;
  for (int n = 0; n < 20; ++n) crowd.emplace_back(proxy.port());
  for (int round = 0; round < 3; ++round) {
    for (RawClient& client : crowd) client.send(get("/"));
    for (RawClient& client : crowd) REQUIRE(client.read_response().status() == 200);
  }
  for (RawClient& client : crowd) client.send(get("/held"));
  REQUIRE(peer.wait_until([](const auto& seen) { return seen.requests == 80; }));
  // Requests take 2.4 times the usual, so P0 waits for 1.2 s, and its sla_ms counts as 2.4 s.
  RawClient hurried(proxy.port()), patient(proxy.port());
  hurried.send(get("/", "X-Request-Deadline: 1050ms\r\n"));
  patient.send(get("/"));
  check_refusal(hurried.read_response(), 503, "P0", "DEADLINE_EXPIRED");
  check_refusal(patient.read_response(), 503, "P0", "QUEUE_TIMEOUT");
  go.set();
  CHECK(proxy.metric_becomes(R"(spillway_denied_total{class="P0",reason="QUEUE_TIMEOUT"})", 1));
  CHECK(proxy.metric(R"(spillway_errors_total{class="P0",reason="DEADLINE_EXPIRED"})") == 1);
  CHECK(proxy.metric(R"(spillway_denied_total{class="P0",reason="DEADLINE_EXPIRED"})") == 0);
  CHECK(proxy.metric(R"(spillway_deadline_miss_total{class="P0"})") == 0);
}

TEST_CASE("a late request is forwarded with a tag where the configuration says so") {
  OneSlot slot(classes(8, 15'000), {{"dispatch", {{"late", "process_with_tag"}}}});
  RawClient client(slot.proxy.port());
  client.send(get("/soon"));
  const Deadline deadline;
  const char* const waited = R"(spillway_oldest_wait_seconds{upstream="app",class="P2"})";
  while (slot.proxy.metric(waited) < 0.07 && !deadline.passed()) {
  }
  slot.go.set();
  CHECK(client.read_response().status() == 200);
  CHECK(slot.holder.read_response().status() == 200);
  CHECK(slot.proxy.metric(R"(spillway_deadline_miss_total{class="P2"})") == 1);
  std::string received;
  for (const std::string& bytes : slot.peer.seen().received) received += bytes;
  const std::size_t tag = received.find("Spillway-Late: 1\r\n");
  REQUIRE(tag != std::string::npos);
  CHECK(tag > received.find("GET /soon "));
  CHECK(received.find("Spillway-Late", tag + 1) == std::string::npos);  // not the first one
}

TEST_CASE("a request that would wait in vain is refused on arrival") {
  CountingBackend backend({.service = 60ms});
  json one_class = json::array({{{"name", "P0"}, {"sla_ms", 20'000}, {"max_wait_ms", 100}}});
  const ProxyUnderTest proxy(backend.address(),
                             {{"classes", one_class}, {"dispatch", {{"concurrency", 1}}}});
  // The gate predicts nothing before it has seen twenty requests.
  RawClient first(proxy.port());
  for (int n = 0; n < 20; ++n) REQUIRE(first.ask(get("/")).status() == 200);

  std::vector<RawClient> crowd;
  for (int n = 0; n < 8; ++n) crowd.emplace_back(proxy.port()).send(get("/"));
  int served = 0, refused = 0;
  for (RawClient& client : crowd) {
    const Message answer = client.read_response();
    if (answer.status() == 200) {
      ++served;
    } else if (reason_of(answer) == "QUEUE_WAIT_RISK") {
      check_refusal(answer, 503, "P0", "QUEUE_WAIT_RISK");
      ++refused;
    }
  }
  // One at work and one or two that need not wait for longer than 100 ms.
  CHECK(served >= 1);
  CHECK(served <= 4);
  CHECK(refused >= 4);
}

TEST_CASE("a request that waited says for how long") {
  OneSlot slot(classes(8, 15'000));
  RawClient waiting = slot.waiting("P2", 1);
  slot.go.set();
  const std::string timing = waiting.read_response().field("Server-Timing").value_or("");
  CHECK(timing.starts_with("queue;dur="));
}

TEST_CASE("without regulation a slow tail makes the rules apply even while slots are free") {
  CountingBackend backend({.service = 10ms});
  const ProxyUnderTest proxy(
      backend.address(),
      {{"routes",
        {{{"name", "checkout"}, {"match", {{"path", "/checkout"}}}, {"class", "P0"}},
         {{"name", "search"}, {"match", {{"path", "/search"}}}, {"class", "P1"}},
         {{"name", "export"}, {"match", {{"path", "/export"}}}, {"class", "P2"}}}},
       {"overload",
        {{"regulate", false},
         {"tick_ms", 50},
         {"window_ms", 1000},
         {"cooldown_ms", 500},
         {"enter", {{"latency_p95_ms", 5}, {"event_loop_lag_ms", nullptr}}},
         {"exit", {{"latency_p95_ms", 3}, {"event_loop_lag_ms", nullptr}}},
         {"rules",
          {{"P1", {{"strategy", "drop"}, {"probability", 1}}},
           {"P2", {{"strategy", "deny"}, {"probability", 1}, {"retry_after_ms", 3000}}}}}}}});
  RawClient client(proxy.port());
  for (int n = 0; n < 25; ++n) REQUIRE(client.ask(get("/checkout")).status() == 200);
  REQUIRE(proxy.state_becomes(
      [](const json& state) { return state["upstreams"][0]["reason"] == "TAIL_LATENCY"; }));

  // The plan reaches the workers just after it can be seen.
  const Deadline deadline;
  Message refused = client.ask(get("/export"));
  while (refused.status() == 200 && !deadline.passed()) refused = client.ask(get("/export"));

  SUBCASE("deny") {
    check_refusal(refused, 503, "P2", "TAIL_LATENCY");
    const int retry_after = json::parse(refused.body).at("retry_after_ms");
    CHECK(retry_after >= 3000);
    CHECK(retry_after < 4500);
    CHECK(client.ask(get("/checkout")).status() == 200);
    CHECK(proxy.metric(R"(spillway_inflight{upstream="app"})") == 0);
    CHECK(proxy.metric(R"(spillway_denied_total{class="P2",reason="TAIL_LATENCY"})") >= 1);
  }
  SUBCASE("drop closes without an answer") {
    client.send(get("/search"));
    CHECK(client.read_to_end() == "");
    CHECK(proxy.metric_becomes(
        R"(spillway_requests_total{route="search",class="P1",outcome="dropped"})", 1));
  }
  SUBCASE("the client's own request id is in head and body") {
    const Message answer = client.ask(get("/export", "X-Request-Id: order-7.A\r\n"));
    check_refusal(answer, 503, "P2", "TAIL_LATENCY");
    CHECK(answer.field("X-Request-Id") == "order-7.A");
  }
  SUBCASE("a page for people when the client prefers it") {
    const Message page = client.ask(get("/export", "Accept: text/html,*/*;q=0.8\r\n"));
    CHECK(page.status() == 503);
    CHECK(page.field("Content-Type").value_or("").starts_with("text/html"));
    CHECK(page.field("Retry-After"));
    CHECK(page.body.find("<html") != std::string::npos);
    CHECK(page.body.find(page.field("X-Request-Id").value_or("?")) != std::string::npos);
  }
  SUBCASE("to HEAD only the head is answered") {
    client.send("HEAD /export HTTP/1.1\r\nHost: a.example\r\n\r\n");
    const Message answer = client.read_response(Expected::head_only);
    CHECK(answer.status() == 503);
    CHECK(answer.field("Content-Length").value_or("0") != "0");
    CHECK(client.ask(get("/checkout")).status() == 200);
  }
  SUBCASE("the state ends once the slow samples have left the window") {
    CHECK(proxy.state_becomes(
        [](const json& state) { return state["upstreams"][0]["state"] == "NORMAL"; }));
    const Deadline until;
    Message answer = client.ask(get("/export"));
    while (answer.status() == 503 && !until.passed()) answer = client.ask(get("/export"));
    CHECK(answer.status() == 200);
  }
}

TEST_CASE("a slow tail of latency refuses no request while slots are free") {
  CountingBackend backend({.service = 10ms});
  const ProxyUnderTest proxy(
      backend.address(),
      {{"routes", {{{"name", "export"}, {"match", {{"path", "/export"}}}, {"class", "P2"}}}},
       {"overload",
        {{"tick_ms", 50},
         {"window_ms", 1000},
         {"enter", {{"latency_p95_ms", 5}, {"event_loop_lag_ms", nullptr}}},
         {"exit", {{"latency_p95_ms", 3}, {"event_loop_lag_ms", nullptr}}}}}});
  RawClient client(proxy.port());
  for (int n = 0; n < 25; ++n) REQUIRE(client.ask(get("/export")).status() == 200);
  REQUIRE(proxy.state_becomes(
      [](const json& state) { return state["upstreams"][0]["reason"] == "TAIL_LATENCY"; }));
  for (int n = 0; n < 100; ++n) REQUIRE(client.ask(get("/export")).status() == 200);
  CHECK(proxy.metric(R"(spillway_effective_limit{upstream="app"})") == 64);
}

TEST_CASE("a latency threshold that no limit meets is given up, and that is said") {
  CountingBackend backend({.service = 10ms});
  const ProxyUnderTest proxy(
      backend.address(), {{"dispatch", {{"concurrency", 2}}},
                          {"overload",
                           {{"tick_ms", 50},
                            {"window_ms", 500},
                            {"enter", {{"latency_p95_ms", 5}, {"event_loop_lag_ms", nullptr}}},
                            {"exit", {{"latency_p95_ms", 3}, {"event_loop_lag_ms", nullptr}}}}}});
  // Five clients for two slots, so that some always wait; the limit of one slot is tried in vain.
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int n = 0; n < 5; ++n) {
    clients.push_back(std::make_unique<RawClient>(proxy.port()));
    clients.back()->send(get("/"));
  }
  const auto ask_for_a_while = [&] {
    for (int round = 0; round < 60; ++round) {
      for (const auto& client : clients) {
        client->read_response();
        client->send(get("/"));
      }
    }
  };
  const auto reason = [&] { return proxy.state()["upstreams"][0]["reason"]; };
  for (const Deadline deadline; reason() != "SHEDDING_DOES_NOT_HELP" && !deadline.passed();)
    ask_for_a_while();
  CHECK(reason() == "SHEDDING_DOES_NOT_HELP");
  CHECK(proxy.metric(R"(spillway_effective_limit{upstream="app"})") == 2);
}

}  // namespace spillway
