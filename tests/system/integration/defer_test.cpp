// Requests that are answered 202 and forwarded later.
#include <doctest/doctest.h>

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

// A backend that keeps what it is asked.
class Backend {
 public:
  using Script = std::function<void(PeerConnection&, const Message&)>;

  explicit Backend(Script answer)
      : peer_([this, answer = std::move(answer)](PeerConnection& proxy) {
          while (const auto request = proxy.read_request()) {
            {
              const std::lock_guard lock(mutex_);
              requests_.push_back(*request);
            }
            answer(proxy, *request);
          }
        }) {}

  std::string address() const { return peer_.address(); }
  std::vector<Message> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Message> requests_;
  ScriptedPeer peer_;
};

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// A request of P2 hardly waits for a slot, one of P0 for as long as it takes.
json impatient_exports() {
  return {{"classes",
           {{{"name", "P0"}, {"max_wait_ms", 60000}, {"sla_ms", 60000}},
            {{"name", "P1"}},
            {{"name", "P2"}, {"max_wait_ms", 10}}}}};
}

json deferring(json defer = json::object(), json more = json::object()) {
  json changes{{"store", {{"url", "memory:"}}},
               {"workers", 1},
               {"dispatch", {{"concurrency", 1}}},
               {"routes",
                {{{"name", "export"},
                  {"match", {{"path", "/export/**"}}},
                  {"class", "P2"},
                  {"defer", std::move(defer)}}}}};
  changes.merge_patch(more);
  return changes;
}

std::string deferrable(std::string_view path, std::string_view body, std::string_view fields = "") {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(fields) + "\r\n" + std::string(body);
}

std::string getting(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

json state_of(ProxyUnderTest& proxy, const std::string& location) {
  RawClient client(proxy.port());
  client.send(getting(location));
  const auto answer = client.read_response();
  return answer.status() == 200 ? json::parse(answer.body) : json{{"status", answer.status()}};
}

bool becomes(ProxyUnderTest& proxy, const std::string& location, const std::string& state) {
  RawClient client(proxy.port());
  client.send(getting(location + "/events"));
  client.read_head();
  const std::string wanted = "event: " + state + "\n";
  try {
    for (std::string events; events.find(wanted) == std::string::npos;)
      events += client.read_bytes(1);  // the stream ends with the job
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a deferred request is answered 202, forwarded as it was, and its answer is kept") {
  Backend backend([](PeerConnection& proxy, const Message&) {
    proxy.send("HTTP/1.1 201 Created\r\nX-Report: 7\r\nContent-Length: 4\r\n\r\ndone");
  });
  ProxyUnderTest proxy(backend.address(), deferring({{"when", "always"}}));
  RawClient client(proxy.port());
  client.send(deferrable("/export/all?x=1", "{\"a\":1}", "Content-Type: application/json\r\n"));
  const auto accepted = client.read_response();
  CHECK(accepted.status() == 202);
  const std::string location(accepted.field("Location").value_or(""));
  CHECK(location.starts_with("/_spillway/jobs/"));
  CHECK(accepted.field("Retry-After"));
  CHECK(becomes(proxy, location, "succeeded"));

  const auto requests = backend.requests();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].start_line == "POST /export/all?x=1 HTTP/1.1");
  CHECK(requests[0].body == "{\"a\":1}");
  CHECK(requests[0].field("Content-Type") == "application/json");
  CHECK(requests[0].field("Spillway-Attempt") == "1");
  CHECK(requests[0].field("Idempotency-Key"));

  client.send(getting(location + "/response"));
  const auto answer = client.read_response();
  CHECK(answer.status() == 201);
  CHECK(answer.field("X-Report") == "7");
  CHECK(answer.body == "done");
}

TEST_CASE("what finds no room is deferred, and done when there is room") {
  Event go;
  Backend backend([&](PeerConnection& proxy, const Message& request) {
    if (request.target() == "/slow") proxy.wait(go);
    proxy.send(kOk);
  });
  ProxyUnderTest proxy(backend.address(), deferring(json::object(), impatient_exports()));
  RawClient slow(proxy.port());
  slow.send(getting("/slow"));
  REQUIRE(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 1));
  RawClient client(proxy.port());
  client.send(deferrable("/export/1", "body"));
  const auto accepted = client.read_response();
  CHECK(accepted.status() == 202);
  const std::string location(accepted.field("Location").value_or(""));
  const json waiting = state_of(proxy, location);
  CHECK((waiting.value("state", "") == "queued" || waiting.value("state", "") == "leased"));
  CHECK(backend.requests().size() == 1);
  go.set();
  CHECK(becomes(proxy, location, "succeeded"));
  CHECK(backend.requests().size() == 2);
  CHECK(proxy.metric(R"(spillway_requests_total{route="export",class="P2",outcome="deferred"})") ==
        1);
}

TEST_CASE("what has room is not deferred") {
  Backend backend([](PeerConnection& proxy, const Message&) { proxy.send(kOk); });
  ProxyUnderTest proxy(backend.address(), deferring());
  RawClient client(proxy.port());
  client.send(deferrable("/export/1", "body"));
  const auto answer = client.read_response();
  CHECK(answer.status() == 200);
  CHECK(proxy.metric("spillway_jobs_accepted_total") == 0);
}

TEST_CASE("a job that its backend refuses is tried again, which is an attempt more") {
  std::atomic<int> asked{0};
  Backend backend([&](PeerConnection& proxy, const Message&) {
    proxy.send(asked++ == 0 ? "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
                            : kOk);
  });
  ProxyUnderTest proxy(backend.address(), deferring({{"when", "always"}}));
  RawClient client(proxy.port());
  client.send(deferrable("/export/1", "body"));
  const auto accepted = client.read_response();
  const std::string location(accepted.field("Location").value_or(""));
  CHECK(becomes(proxy, location, "retrying"));
  CHECK(becomes(proxy, location, "succeeded"));
  CHECK(state_of(proxy, location).value("attempts", 0) == 2);
  CHECK(proxy.metric(R"(spillway_jobs_retried_total{cause="refused"})") == 1);
}

TEST_CASE("a job that waits can be cancelled, one that has ended cannot") {
  Event go;
  Backend backend([&](PeerConnection& proxy, const Message&) {
    proxy.wait(go);
    proxy.send(kOk);
  });
  ProxyUnderTest proxy(backend.address(), deferring({{"when", "always"}, {"concurrency", 1}}));
  RawClient client(proxy.port());
  std::vector<std::string> locations;
  for (int i = 0; i < 2; ++i) {
    client.send(deferrable("/export/" + std::to_string(i), "body"));
    const auto accepted = client.read_response();
    locations.emplace_back(accepted.field("Location").value_or(""));
  }
  REQUIRE(proxy.metric_becomes("spillway_jobs_running", 1));
  client.send("DELETE " + locations[1] + " HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto cancelled = client.read_response();
  CHECK(cancelled.status() == 200);
  CHECK(state_of(proxy, locations[1]).value("state", "") == "cancelled");
  go.set();
  CHECK(becomes(proxy, locations[0], "succeeded"));
  client.send("DELETE " + locations[0] + " HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto late = client.read_response();
  CHECK(late.status() == 409);
  CHECK(backend.requests().size() == 1);
}

TEST_CASE("a guessed id and a broken one are answered 404") {
  Backend backend([](PeerConnection& proxy, const Message&) { proxy.send(kOk); });
  ProxyUnderTest proxy(backend.address(), deferring());
  CHECK(state_of(proxy, "/_spillway/jobs/00000000000000000000000000000000")["status"] == 404);
  CHECK(state_of(proxy, "/_spillway/jobs/xyz")["status"] == 404);
  CHECK(state_of(proxy, "/_spillway/jobs/")["status"] == 404);
  CHECK(state_of(proxy, "/_spillway")["status"] == 404);
  CHECK(backend.requests().empty());
}

TEST_CASE("the same Idempotency-Key stands for one job; with another request it is refused") {
  Backend backend([](PeerConnection& proxy, const Message&) { proxy.send(kOk); });
  ProxyUnderTest proxy(backend.address(), deferring({{"when", "always"}}));
  RawClient client(proxy.port());
  const auto ask = [&](std::string_view body) {
    client.send(deferrable("/export/1", body, "Idempotency-Key: \"order-7\"\r\n"));
    return client.read_response();
  };
  const auto first = ask("body"), again = ask("body"), other = ask("another");
  CHECK(first.status() == 202);
  CHECK(again.status() == 202);
  CHECK(first.field("Location") == again.field("Location"));
  CHECK(other.status() == 422);
  CHECK(json::parse(other.body)["reason"] == "IDEMPOTENCY_MISMATCH");
  CHECK(becomes(proxy, std::string(first.field("Location").value_or("")), "succeeded"));
  CHECK(backend.requests().size() == 1);
  CHECK(backend.requests()[0].field("Idempotency-Key") == "\"order-7\"");
}

TEST_CASE("a duplicate of a job is told of it although there is room by now") {
  Event go;
  Backend backend([&](PeerConnection& proxy, const Message& request) {
    if (request.target() == "/slow") proxy.wait(go);
    proxy.send(kOk);
  });
  ProxyUnderTest proxy(backend.address(), deferring(json::object(), impatient_exports()));
  RawClient slow(proxy.port());
  slow.send(getting("/slow"));
  REQUIRE(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 1));
  RawClient client(proxy.port());
  const auto ask = [&](std::string_view body, std::string_view key) {
    client.send(deferrable("/export/1", body, "Idempotency-Key: " + std::string(key) + "\r\n"));
    return client.read_response();
  };
  const auto accepted = ask("body", "order-7");
  REQUIRE(accepted.status() == 202);
  const std::string location(accepted.field("Location").value_or(""));
  go.set();
  REQUIRE(becomes(proxy, location, "succeeded"));
  const auto again = ask("body", "order-7");
  CHECK(again.status() == 202);
  CHECK(again.field("Location") == location);
  CHECK(ask("another", "order-7").status() == 422);
  CHECK(backend.requests().size() == 2);
  // negative control: with a key that no job has it is forwarded
  CHECK(ask("body", "order-8").status() == 200);
  CHECK(backend.requests().size() == 3);
}

TEST_CASE("a chunked request is deferred with its content") {
  Backend backend([](PeerConnection& proxy, const Message&) { proxy.send(kOk); });
  ProxyUnderTest proxy(backend.address(), deferring({{"when", "always"}}));
  RawClient client(proxy.port());
  client.send(
      "POST /export/1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX-T: 1\r\n\r\n");
  const auto accepted = client.read_response();
  CHECK(accepted.status() == 202);
  CHECK(becomes(proxy, std::string(accepted.field("Location").value_or("")), "succeeded"));
  REQUIRE(backend.requests().size() == 1);
  CHECK(backend.requests()[0].body == "hello world");
  CHECK(backend.requests()[0].field("Content-Length") == "11");
  CHECK_FALSE(backend.requests()[0].field("Transfer-Encoding"));
}

TEST_CASE("a body longer than max_body_bytes is not deferred") {
  Backend backend([](PeerConnection& proxy, const Message&) { proxy.send(kOk); });
  ProxyUnderTest proxy(backend.address(), deferring({{"when", "always"}, {"max_body_bytes", 8}}));
  RawClient client(proxy.port());
  client.send(
      "POST /export/1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "9\r\n123456789\r\n0\r\n\r\n");
  const auto answer = client.read_response();
  CHECK(answer.status() == 413);
}

TEST_CASE("a client is told which of its preferences were applied") {
  std::atomic<bool> answers{true};
  Event go;
  Backend backend([&](PeerConnection& proxy, const Message&) {
    if (!answers) proxy.wait(go);
    proxy.send("HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\ndone");
  });
  ProxyUnderTest proxy(backend.address(), deferring({{"when", "always"}}));
  RawClient client(proxy.port());
  struct Case {
    const char* prefer;
    bool is_quick;
    int status;
    const char* applied;  // empty: no such field
  };
  for (const Case& one :
       {Case{"", true, 202, ""},
        {"Prefer: respond-async\r\n", true, 202, "respond-async"},
        {"Prefer: return=minimal\r\n", true, 202, ""},
        {"Prefer: respond-async, wait=10\r\n", true, 201, "wait=10"},
        {"Prefer: wait=10\r\n", true, 201, "wait=10"},
        {"Prefer: respond-async, wait=3600\r\n", true, 201, "wait=60"},
        {"Prefer: respond-async, wait=0\r\n", false, 202, "respond-async, wait=0"},
        {"Prefer: respond-async, wait=1\r\n", false, 202, "respond-async, wait=1"},
        {"Prefer: wait=1\r\n", false, 202, "wait=1"}}) {
    CAPTURE(one.prefer);
    answers = one.is_quick;
    client.send(deferrable("/export/1", "body", one.prefer));
    const auto answer = client.read_response();
    CHECK(answer.status() == one.status);
    CHECK(answer.field("Preference-Applied").value_or("") == one.applied);
    CHECK((answer.body == "done") == (one.status == 201));
  }
  go.set();
  for (const Message& request : backend.requests()) CHECK_FALSE(request.field("Prefer"));
}

TEST_CASE("a client that waits is not given an answer whose body was not kept, but its job") {
  Backend backend([](PeerConnection& proxy, const Message&) {
    proxy.send("HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\ndone");
  });
  ProxyUnderTest proxy(backend.address(), deferring({{"when", "always"}, {"max_result_bytes", 3}}));
  RawClient client(proxy.port());
  client.send(deferrable("/export/1", "body", "Prefer: respond-async, wait=10\r\n"));
  const auto accepted = client.read_response();
  REQUIRE(accepted.status() == 202);
  const std::string location(accepted.field("Location").value_or(""));
  client.send(getting(location + "/response"));
  const auto answer = client.read_response();
  CHECK(answer.status() == 201);
  CHECK(answer.field("Spillway-Job") == "cut");
}

TEST_CASE("an answer without content is kept as one") {
  Backend backend([](PeerConnection& proxy, const Message&) {
    proxy.send("HTTP/1.1 204 No Content\r\nX-Done: yes\r\n\r\n");
  });
  ProxyUnderTest proxy(backend.address(), deferring({{"when", "always"}}));
  RawClient client(proxy.port());
  client.send(deferrable("/export/1", "body"));
  const std::string location(client.read_response().field("Location").value_or(""));
  REQUIRE(becomes(proxy, location, "succeeded"));
  client.send(getting(location + "/response"));
  const auto answer = client.read_response();
  CHECK(answer.status() == 204);
  CHECK(answer.field("X-Done") == "yes");
  CHECK_FALSE(answer.field("Content-Length"));
  client.send(getting(location));  // on the same connection
  CHECK(client.read_response().status() == 200);
}

TEST_CASE("what a job is not asked for is a problem that says what it is asked for") {
  Backend backend([](PeerConnection& proxy, const Message&) { proxy.send(kOk); });
  ProxyUnderTest proxy(backend.address(), deferring());
  RawClient client(proxy.port());
  const std::string job = "/_spillway/jobs/00000000000000000000000000000000";
  for (const auto& [target, allowed] :
       {std::pair(job, "GET, HEAD, DELETE"), std::pair(job + "/response", "GET, HEAD")}) {
    client.send("PUT " + target + " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    const auto answer = client.read_response();
    CHECK(answer.status() == 405);
    CHECK(answer.field("Allow") == allowed);
    CHECK(answer.field("Content-Type") == "application/problem+json");
    CHECK(json::parse(answer.body).at("status") == 405);
  }
}
