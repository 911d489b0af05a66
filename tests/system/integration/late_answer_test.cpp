// The answer of a deferred request that comes after its timeout, while it keeps its slot.
#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "system/integration/jobs_operator.hpp"
#include "system/integration/stopwatch.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kSlotsTaken = R"(spillway_inflight{upstream="app"})";
constexpr const char* kAbandoned = "spillway_abandoned_requests";

json settings_of(const std::vector<std::string>& servers, json app, json defer) {
  defer["when"] = "always";
  return configuration(
      servers,
      {{"store", {{"url", "memory:"}}},
       {"workers", 1},
       {"app", std::move(app)},
       {"routes",
        {{{"name", "export"}, {"match", {{"path", "/export/**"}}}, {"defer", std::move(defer)}}}}});
}

json late_settings(const std::vector<std::string>& servers, json app = json::object(),
                   json defer = json::object()) {
  app.update({{"response_timeout_ms", 300}});
  return settings_of(servers, std::move(app), std::move(defer));
}

json impatient_retries() {
  return {{"max_attempts", 2}, {"backoff", {{"base_ms", 1}, {"max_ms", 1}}}};
}

// Sends a part at once, and the rest when it is told to.
struct LateBackend {
  explicit LateBackend(std::string late, std::string at_once = {})
      : late_(std::move(late)), at_once_(std::move(at_once)) {}

  std::string late_, at_once_;
  Event go;
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (proxy.read_request()) {
      if (!at_once_.empty()) proxy.send(at_once_);
      if (!proxy.wait(go) || !proxy.send(late_)) return;
      if (late_.ends_with("breaks off")) return;
    }
  }};
};

struct Ended {
  json job;
  std::size_t asked = 0;
};

// A job whose backend answers after the timeout.
Ended ends_late(LateBackend& backend, const std::string& state, json defer = json::object()) {
  const ProxyUnderTest proxy(
      late_settings({backend.peer.address()}, json::object(), std::move(defer)));
  const Operator desk{proxy.admin_port()};
  const std::string id = support::defer(proxy.port(), "/export/1");
  REQUIRE(proxy.metric_becomes(kAbandoned, 1));
  CHECK(desk.get("/jobs/" + id).at("state") == "leased");
  backend.go.set();
  CHECK(desk.come_to(1, "state=" + state));
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
  CHECK(proxy.metric(kAbandoned) == 0);
  return {desk.get("/jobs/" + id), backend.peer.requests()};
}

}  // namespace

TEST_CASE("an answer that comes while a job that timed out keeps its slot is the job's") {
  LateBackend backend(ok("done"));
  const ProxyUnderTest proxy(late_settings({backend.peer.address()}));
  const std::string id = support::defer(proxy.port(), "/export/1");
  REQUIRE(proxy.metric_becomes(kAbandoned, 1));
  backend.go.set();
  CHECK(Operator{proxy.admin_port()}.come_to(1, "state=succeeded"));
  const Message answer = RawClient(proxy.port()).ask(get("/_spillway/jobs/" + id + "/response"));
  CHECK(answer.status() == 200);
  CHECK(answer.body == "done");
  CHECK(backend.peer.requests() == 1);
}

TEST_CASE("what a late answer of a job says counts as if it had come in time") {
  SUBCASE("it is one attempt") {
    LateBackend backend(ok("done"));
    const Ended ended = ends_late(backend, "succeeded", impatient_retries());
    CHECK(ended.job.at("attempts") == 1);
    CHECK(ended.asked == 1);
  }
  SUBCASE("its head may have come in part") {
    LateBackend backend("th: 4\r\n\r\ndone", "HTTP/1.1 200 OK\r\nContent-Leng");
    CHECK(ends_late(backend, "succeeded").asked == 1);
  }
  SUBCASE("or behind an interim one") {
    LateBackend backend(ok("done"), "HTTP/1.1 103 Early Hints\r\n\r\n");
    CHECK(ends_late(backend, "succeeded").asked == 1);
  }
  SUBCASE("its body may have stalled") {
    LateBackend backend("ne", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndo");
    CHECK(ends_late(backend, "succeeded", impatient_retries()).asked == 1);
  }
  SUBCASE("a rejection") {
    LateBackend backend("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    CHECK(ends_late(backend, "dead", impatient_retries()).job.at("cause") == "rejected");
  }
  SUBCASE("a failure, after which it is tried again") {
    LateBackend backend("HTTP/1.1 500 Failed\r\nContent-Length: 0\r\n\r\n");
    const Ended ended = ends_late(backend, "dead", impatient_retries());
    CHECK(ended.job.at("cause") == "too_many_attempts");
    CHECK(ended.asked == 2);
  }
  SUBCASE("control: one that breaks off says nothing") {
    LateBackend backend("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbreaks off");
    const Ended ended = ends_late(backend, "dead", impatient_retries());
    CHECK(ended.job.at("cause") == "not_idempotent");
    CHECK(ended.asked == 1);
  }
}

TEST_CASE("a job whose answer does not come while it keeps its slot has timed out") {
  LateBackend backend(ok("done"));
  const ProxyUnderTest proxy(late_settings({backend.peer.address()}));
  const Stopwatch stopwatch;
  const std::string id = support::defer(proxy.port(), "/export/1");
  const Operator desk{proxy.admin_port()};
  CHECK(desk.come_to(1, "state=dead"));
  CHECK(stopwatch.elapsed() >= 2s);
  CHECK(desk.get("/jobs/" + id).at("cause") == "not_idempotent");
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
}

TEST_CASE("an attempt that is late and then fails is one failure of its server") {
  const std::vector<std::string> answers{
      ok("done"), "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbreaks off",
      "HTTP/1.1 500 Failed\r\nContent-Length: 100\r\n\r\nbreaks off"};
  for (const std::string& late : answers) {
    CAPTURE(late);
    LateBackend backend(late);
    const ProxyUnderTest proxy(
        late_settings({backend.peer.address()}, json::object(), {{"max_attempts", 1}}));
    const auto of_server = [&](const std::string& family, const std::string& more = "") {
      return "spillway_server_" + family + "{upstream=\"app\",server=\"" + backend.peer.address() +
             "\"" + more + "}";
    };
    support::defer(proxy.port(), "/export/1");
    REQUIRE(proxy.metric_becomes(kAbandoned, 1));
    backend.go.set();
    CHECK(proxy.metric_becomes(kSlotsTaken, 0));
    CHECK(proxy.metric(of_server("failures_total", ",kind=\"response_timeout\"")) == 1);
    CHECK(proxy.metric(of_server("failures_total", ",kind=\"truncated\"")) == 0);
    CHECK(proxy.metric(of_server("failures_total", ",kind=\"error_status\"")) == 0);
    CHECK(proxy.metric(of_server("consecutive_failures")) == 1);
  }
}

TEST_CASE("a late answer of a job is no success of its server") {
  Event first, second;
  std::atomic<int> asked = 0;
  ScriptedPeer late([&](PeerConnection& proxy) {
    while (proxy.read_request()) {
      if (!proxy.wait(++asked == 1 ? first : second) || !proxy.send(ok("late"))) return;
    }
  });
  ScriptedPeer good(ok("done"));
  const ProxyUnderTest proxy(
      late_settings({late.address(), good.address()},
                    {{"balance", "round_robin"},
                     {"ejection", {{"consecutive_failures", 2}, {"base_ms", 60'000}}}}));
  const Operator desk{proxy.admin_port()};
  const auto of_server = [&](const std::string& family) {
    return "spillway_server_" + family + "{upstream=\"app\",server=\"" + late.address() + "\"}";
  };
  std::size_t jobs = 0;
  const auto defer_until_asked = [&](int times) {
    for (const Deadline deadline; asked < times && !deadline.passed(); ++jobs) {
      support::defer(proxy.port(), "/export/1");
      CHECK(proxy.metric_becomes("spillway_jobs_started_total", static_cast<double>(jobs + 1)));
    }
  };
  defer_until_asked(1);
  REQUIRE(proxy.metric_becomes(kAbandoned, 1));
  first.set();
  REQUIRE(desk.come_to(jobs, "state=succeeded"));
  CHECK(proxy.metric(of_server("consecutive_failures")) == 1);
  defer_until_asked(2);
  CHECK(proxy.metric_becomes(of_server("up"), 0));
  // Its server gets no more requests, so it holds no slot.
  CHECK(desk.come_to(1, "state=dead&cause=not_idempotent"));
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
}

TEST_CASE("behind an answer that stalls the next job begins once its slot is given back") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->target() != "/export/stalls") {
        proxy.send(ok("done"));
        continue;
      }
      proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndo");
      proxy.wait_closed();
      return;
    }
  });
  const std::string account7 = "X-Account: 7\r\n", account8 = "X-Account: 8\r\n";
  bool is_by_order = false;
  json defer;
  SUBCASE("of its order") {
    is_by_order = true;
    defer = {{"order_by", "X-Account"}};
  }
  SUBCASE("within `concurrency`") { defer = {{"concurrency", 1}}; }
  const ProxyUnderTest proxy(late_settings({peer.address()}, json::object(), defer));
  const Operator desk{proxy.admin_port()};
  const Stopwatch stopwatch;
  const std::string id = support::defer(proxy.port(), "/export/stalls", "x", account7);
  REQUIRE(proxy.metric_becomes(kAbandoned, 1));
  support::defer(proxy.port(), "/export/next", "x", account7);
  if (is_by_order) {  // control: of another order
    support::defer(proxy.port(), "/export/other", "x", account8);
    CHECK(desk.come_to(1, "state=succeeded"));
    CHECK(proxy.metric(kAbandoned) == 1);
  }
  CHECK(desk.come_to(is_by_order ? 2 : 1, "state=succeeded"));
  CHECK(stopwatch.elapsed() >= 2s);
  CHECK(desk.get("/jobs/" + id).at("cause") == "not_idempotent");
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
}

TEST_CASE("a refusal whose body stalls sends its job back at once, unless its answer is kept") {
  const std::string head = "HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\nContent-Length: 4\r\n\r\n";
  const json patient{{"response_timeout_ms", 3'600'000}};
  SUBCASE("it is tried again") {
    LateBackend backend("pe", head + "no");
    const ProxyUnderTest proxy(
        settings_of({backend.peer.address()}, patient, {{"max_attempts", 2}}));
    const Operator desk{proxy.admin_port()};
    const std::string id = support::defer(proxy.port(), "/export/1");
    CHECK(desk.come_to(1, "state=retrying"));
    CHECK(desk.get("/jobs/" + id).at("cause") == "refused");
    CHECK(proxy.metric(kAbandoned) == 1);  // the upstream may be at work on it
    backend.go.set();
    CHECK(proxy.metric_becomes(kSlotsTaken, 0));
  }
  SUBCASE("it was the last attempt") {
    LateBackend backend("pe", head + "no");
    const ProxyUnderTest proxy(
        settings_of({backend.peer.address()}, patient, {{"max_attempts", 1}}));
    const Operator desk{proxy.admin_port()};
    const std::string id = support::defer(proxy.port(), "/export/1");
    // The route pauses meanwhile.
    CHECK(proxy.metric_becomes(R"(spillway_jobs_paused{route="export"})", 1));
    CHECK(desk.get("/jobs/" + id).at("state") == "leased");
    backend.go.set();
    CHECK(desk.come_to(1, "state=dead"));
    CHECK(RawClient(proxy.port()).ask(get("/_spillway/jobs/" + id + "/response")).body == "nope");
  }
}

TEST_CASE("the connection of a refusal that comes whole is used again") {
  std::atomic<int> connections{0};
  ScriptedPeer peer([&](PeerConnection& proxy) {
    ++connections;
    for (bool is_first = true; proxy.read_request(); is_first = false)
      proxy.send(is_first ? "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nnope" : ok("done"));
  });
  const ProxyUnderTest proxy(late_settings({peer.address()}, json::object(), impatient_retries()));
  support::defer(proxy.port(), "/export/1");
  CHECK(Operator{proxy.admin_port()}.come_to(1, "state=succeeded"));
  CHECK(connections == 1);
}
