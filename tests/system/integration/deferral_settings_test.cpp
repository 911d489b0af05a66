// What the keys of `defer` change, at the border where clients and operators notice it.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/refusal.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

// Keeps the targets it is asked for, in their order.
class Backend {
 public:
  // False: the connection is closed without an answer.
  using Script = std::function<bool(PeerConnection&, const Message&)>;

  explicit Backend(Script answer)
      : peer_([this, answer = std::move(answer)](PeerConnection& proxy) {
          while (const auto request = proxy.read_request()) {
            {
              const std::lock_guard lock(mutex_);
              targets_.push_back(request->target());
            }
            if (!answer(proxy, *request)) return;
          }
        }) {}

  std::string address() const { return peer_.address(); }
  std::vector<std::string> targets() const {
    const std::lock_guard lock(mutex_);
    return targets_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> targets_;
  ScriptedPeer peer_;
};

bool answer_ok(PeerConnection& proxy, const Message&) { return proxy.send(ok("done")); }

constexpr const char* kBroken = "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n";
const json kAtOnce{{"base_ms", 1}, {"max_ms", 1}};

// /export/** with these settings, /mail/** with none.
json with(json defer, json more = json::object()) {
  json changes = deferring();
  changes["routes"][0]["defer"] = std::move(defer);
  changes.merge_patch(more);
  return changes;
}

json always(json defer = json::object()) {
  defer["when"] = "always";
  return with(std::move(defer));
}

// Returns once the one worker knows.
void drain(ProxyUnderTest& proxy) {
  RawClient busy(proxy.port());
  REQUIRE(busy.ask(get("/")).field("Connection") != "close");
  proxy.server().begin_drain();
  const Deadline deadline;
  while (busy.ask(get("/")).field("Connection") != "close" && !deadline.passed()) {
  }
}

}  // namespace

TEST_CASE("what arrives while the proxy drains is deferred") {
  Backend backend(answer_ok);
  const TemporaryDirectory directory;
  const std::string url = "sqlite:" + (directory.path() / "jobs.db").string();
  ProxyUnderTest proxy(backend.address(), with(json::object(), {{"store", {{"url", url}}}}));
  RawClient late(proxy.port());
  CHECK(late.ask(post("/export/1", "x")).status() == 200);  // negative control
  drain(proxy);
  CHECK(late.ask(post("/export/2", "x")).status() == 202);
  const auto targets = backend.targets();
  CHECK(std::count(targets.begin(), targets.end(), "/export/2") == 0);
}

TEST_CASE("what a store in memory would lose with a proxy that drains is forwarded at once") {
  for (const char* when : {"overloaded", "always"}) {
    CAPTURE(when);
    Backend backend(answer_ok);
    ProxyUnderTest proxy(backend.address(), with({{"when", when}}));
    RawClient late(proxy.port());
    drain(proxy);
    CHECK(late.ask(post("/export/2", "x")).status() == 200);
    CHECK(proxy.metric("spillway_jobs_accepted_total") == 0);
  }
}

TEST_CASE(
    "what a store in memory would lose with a proxy that drains is refused as without defer") {
  const RefusingPort refusing;
  ProxyUnderTest proxy(refusing.address(), with(json::object()));
  RawClient before(proxy.port()), late(proxy.port());
  CHECK(before.ask(post("/export/1", "x")).status() == 202);  // negative control
  REQUIRE(late.ask(get("/export/1")).status() == 502);
  drain(proxy);
  CHECK(late.ask(post("/export/2", "x")).status() == 502);
}

TEST_CASE("what cannot be sent to any server is deferred, what only reads is told so") {
  const RefusingPort refusing;
  ProxyUnderTest proxy(refusing.address(), with(json::object()));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/export/1")).status() == 502);
  CHECK(client.ask(post("/other", "x")).status() == 502);  // no route with defer
  CHECK(client.ask(post("/export/1", "x")).status() == 202);
}

TEST_CASE("jobs of an upstream whose circuit is open wait without an attempt") {
  Backend backend([](PeerConnection& proxy, const Message&) { return proxy.send(kBroken); });
  const json breaker{
      {"consecutive_failures", 1}, {"open_ms", 3'600'000}, {"max_open_ms", 3'600'000}};
  ProxyUnderTest proxy(backend.address(),
                       with({{"when", "always"}}, {{"jobs", {{"ttl_ms", 60'000}}},
                                                   {"app", {{"circuit_breaker", breaker}}}}));
  const Operator desk{proxy.admin_port()};
  defer(proxy.port(), "/export/1");
  REQUIRE(desk.come_to(1, "state=retrying"));
  const std::string second = defer(proxy.port(), "/mail/2");
  CHECK(proxy.metric_becomes(R"(spillway_jobs_paused{route="mail"})", 1));
  const json parked = desk.get("/jobs/" + second);
  CHECK(parked.at("state") == "queued");
  CHECK(parked.at("attempts") == 0);
  CHECK(backend.targets() == std::vector<std::string>{"/export/1"});
}

TEST_CASE("what a tenant's budget refuses is deferred only with include_limits") {
  for (const bool include_limits : {false, true}) {
    CAPTURE(include_limits);
    Backend backend(answer_ok);
    const json tenant{
        {"name", "acme"}, {"key", "acme-key-0"}, {"budget", {{"rate", 0.001}, {"burst", 1}}}};
    ProxyUnderTest proxy(backend.address(), with({{"include_limits", include_limits}},
                                                 {{"tenants", {{"api_keys", {tenant}}}}}));
    RawClient client(proxy.port());
    const auto ask = [&] {
      return client.ask(post("/export/1", "x", "X-Api-Key: acme-key-0\r\n"));
    };
    CHECK(ask().status() == 200);
    const Message beyond = ask();
    if (include_limits) CHECK(beyond.status() == 202);
    if (!include_limits) check_refusal(beyond, 429, "P2", "BUDGET_EXCEEDED");
  }
}

TEST_CASE("with prefer only those are deferred that ask for it, also those that read") {
  Backend backend(answer_ok);
  ProxyUnderTest proxy(backend.address(), with({{"when", "prefer"}}));
  RawClient client(proxy.port());
  const char* const async = "Prefer: respond-async\r\n";
  CHECK(client.ask(post("/export/1", "x")).status() == 200);
  CHECK(client.ask(post("/export/1", "x", "Prefer: return=minimal\r\n")).status() == 200);
  const Message later = client.ask(post("/export/2", "x", async));
  CHECK(later.status() == 202);
  CHECK(later.field("Preference-Applied") == "respond-async");
  CHECK(client.ask(get("/export/3", async)).status() == 202);
  // Negative control: mail is always deferred, but not what reads.
  CHECK(client.ask(get("/mail/1")).status() == 200);
  CHECK(Operator{proxy.admin_port()}.come_to(2, "state=succeeded"));
}

TEST_CASE("jobs of one sequence run one after another, retries included, others beside them") {
  Event go;
  std::atomic<int> times{0};
  Backend backend([&](PeerConnection& proxy, const Message& request) {
    if (request.target() != "/export/1") return proxy.send(ok("done"));
    if (times++ == 0) return proxy.send(kBroken);
    return proxy.wait(go) && proxy.send(ok("done"));
  });
  ProxyUnderTest proxy(backend.address(),
                       always({{"order_by", "X-Account"}, {"backoff", kAtOnce}}));
  const Operator desk{proxy.admin_port()};
  for (const auto& [target, account] :
       {std::pair("/export/1", "a"), {"/export/2", "a"}, {"/export/3", "b"}})
    defer(proxy.port(), target, "x", "X-Account: " + std::string(account) + "\r\n");
  defer(proxy.port(), "/export/4");  // of no sequence
  REQUIRE(desk.come_to(2, "state=succeeded"));
  const auto before = backend.targets();
  CHECK(std::count(before.begin(), before.end(), "/export/2") == 0);
  go.set();
  REQUIRE(desk.come_to(4, "state=succeeded"));
  std::vector<std::string> sequence;
  for (const std::string& target : backend.targets())
    if (target < "/export/3") sequence.push_back(target);
  CHECK(sequence == std::vector<std::string>{"/export/1", "/export/1", "/export/2"});
}

TEST_CASE("a key that is required and missing, and one that is none, are told to the client") {
  Backend backend(answer_ok);
  ProxyUnderTest proxy(backend.address(), always({{"require_idempotency_key", true}}));
  RawClient client(proxy.port());
  const auto check_bad = [&](std::string_view lines, std::string_view detail) {
    const Message answer = client.ask(post("/export/1", "x", lines));
    CAPTURE(answer.body);
    CHECK(answer.status() == 400);
    CHECK(answer.field("Content-Type") == "application/problem+json");
    CHECK(json::parse(answer.body).at("detail") == detail);
  };
  check_bad("", "A request of this kind needs an Idempotency-Key.");
  const char* const malformed = "Idempotency-Key has to be one text of 1 to 255 characters.";
  check_bad("Idempotency-Key: \"\"\r\n", malformed);
  check_bad("Idempotency-Key: \"open\r\n", malformed);
  check_bad("Idempotency-Key: a\r\nIdempotency-Key: b\r\n", malformed);
  check_bad("Idempotency-Key: " + std::string(256, 'k') + "\r\n", malformed);
  // Negative controls: the longest key, and a route that requires none.
  const std::string longest = "Idempotency-Key: " + std::string(255, 'k') + "\r\n";
  CHECK(client.ask(post("/export/1", "x", longest)).status() == 202);
  CHECK(client.ask(post("/mail/1", "x")).status() == 202);
}

TEST_CASE("what is answered at once needs no key where one is required") {
  Backend backend(answer_ok);
  ProxyUnderTest proxy(backend.address(), with({{"require_idempotency_key", true}}));
  CHECK(RawClient(proxy.port()).ask(post("/export/1", "x")).status() == 200);
}

TEST_CASE("a job whose attempts are spent is dead, with the answer to the last of them") {
  Backend backend([](PeerConnection& proxy, const Message&) { return proxy.send(kBroken); });
  ProxyUnderTest proxy(backend.address(), always({{"max_attempts", 2}, {"backoff", kAtOnce}}));
  const Operator desk{proxy.admin_port()};
  const std::string id = defer(proxy.port(), "/export/1");
  REQUIRE(desk.come_to(1, "state=dead&cause=too_many_attempts"));
  CHECK(desk.get("/jobs/" + id).at("history").size() == 2);
  CHECK(backend.targets().size() == 2);
  CHECK(RawClient(proxy.port()).ask(get("/_spillway/jobs/" + id + "/response")).status() == 500);
}

TEST_CASE("what was sent and not answered is sent again if its method or its route says so") {
  struct Case {
    const char* method;
    bool retry_unanswered;
    const char* state;
  };
  for (const Case& one :
       {Case{"POST", false, "state=dead&cause=not_idempotent"},
        Case{"POST", true, "state=succeeded"}, Case{"PUT", false, "state=succeeded"}}) {
    CAPTURE(one.method);
    CAPTURE(one.retry_unanswered);
    std::atomic<bool> answers{false};
    Backend backend([&](PeerConnection& proxy, const Message& request) {
      return answers.exchange(true) && answer_ok(proxy, request);
    });
    ProxyUnderTest proxy(backend.address(), always({{"retry_unanswered", one.retry_unanswered},
                                                    {"backoff", kAtOnce}}));
    std::string request = post("/export/1", "x");
    request.replace(0, 4, one.method);
    CHECK(RawClient(proxy.port()).ask(request).status() == 202);
    CHECK(Operator{proxy.admin_port()}.come_to(1, one.state));
  }
}

TEST_CASE("a job that is not done within ttl_ms expires, and is forgotten result_ttl_ms later") {
  const RefusingPort refusing;
  ProxyUnderTest proxy(refusing.address(), always({{"ttl_ms", 1000}, {"result_ttl_ms", 1000}}));
  const Operator desk{proxy.admin_port()};
  const std::string id = defer(proxy.port(), "/export/1");
  defer(proxy.port(), "/mail/1");
  REQUIRE(proxy.metric_becomes("spillway_jobs_expired_total", 1));
  REQUIRE(desk.come_to(0, "route=export"));
  CHECK(RawClient(proxy.port()).ask(get("/_spillway/jobs/" + id)).status() == 404);
  CHECK(desk.get("/jobs?route=mail").at("jobs").size() == 1);  // negative control
}

TEST_CASE("jobs of a route begin no more often than its rate says") {
  Backend backend(answer_ok);
  ProxyUnderTest proxy(backend.address(), always({{"rate", 0.001}}));
  const Operator desk{proxy.admin_port()};
  for (const char* target : {"/export/1", "/export/2", "/export/3"}) defer(proxy.port(), target);
  REQUIRE(desk.come_to(1, "state=succeeded&route=export"));
  for (const char* target : {"/mail/1", "/mail/2", "/mail/3"}) defer(proxy.port(), target);
  REQUIRE(desk.come_to(3, "state=succeeded&route=mail"));
  CHECK(desk.get("/jobs?state=queued&route=export").at("jobs").size() == 2);
  CHECK(backend.targets().size() == 4);
}
