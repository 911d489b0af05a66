// When a deferred request that its backend refuses is tried again.
#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>

#include "base/time_text.hpp"
#include "system/integration/jobs_operator.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

// Refuses the first request, and answers all others.
struct RefusingBackend {
  RefusingBackend(int status, const std::string& lines, bool its_body_breaks_off = false)
      : refusal("HTTP/1.1 " + std::to_string(status) + " Refused\r\n" + lines +
                "Content-Length: " + (its_body_breaks_off ? "100\r\n\r\nsome" : "0\r\n\r\n")),
        breaks_off(its_body_breaks_off) {}

  const std::string refusal;
  const bool breaks_off;
  std::atomic<int> asked{0};
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (proxy.read_request()) {
      const bool refuses = asked++ == 0;
      proxy.send(refuses ? refusal : kOk);
      if (refuses && breaks_off) return;
    }
  }};
};

// Its own pause after an attempt is a millisecond at most.
json impatient() {
  json changes = deferring();
  for (json& route : changes["routes"]) route["defer"]["backoff"] = {{"base_ms", 1}, {"max_ms", 1}};
  return changes;
}

std::chrono::milliseconds between(const json& from, const json& until) {
  const auto first = parse_time(from.get<std::string>());
  const auto last = parse_time(until.get<std::string>());
  REQUIRE(first);
  REQUIRE(last);
  return *last - *first;
}

}  // namespace

TEST_CASE("a job whose backend refuses it is not tried again before Retry-After") {
  for (const auto& [status, breaks_off] :
       {std::pair(429, false), {503, false}, {429, true}, {503, true}}) {
    CAPTURE(status);
    CAPTURE(breaks_off);
    RefusingBackend backend(status, "Retry-After: 3600\r\n", breaks_off);
    ProxyUnderTest proxy(backend.peer.address(), impatient());
    const Operator desk{proxy.admin_port()};
    const std::string id = defer(proxy.port(), "/export/1");
    REQUIRE(desk.come_to(1, "state=retrying"));
    const json job = desk.get("/jobs/" + id);
    REQUIRE(job.at("history").size() == 1);
    CHECK(job.at("history").at(0).at("status") == status);
    const auto pause = between(job.at("history").at(0).at("began_at"), job.at("due_at"));
    CHECK(pause >= std::chrono::hours(1));
    CHECK(pause < std::chrono::hours(1) + kPatience);
  }
}

TEST_CASE(
    "control: without Retry-After it is tried again after its own pause, as after another 5xx") {
  for (const auto& [status, lines] :
       {std::pair(429, ""), {503, ""}, {500, "Retry-After: 3600\r\n"}}) {
    CAPTURE(status);
    RefusingBackend backend(status, lines);
    ProxyUnderTest proxy(backend.peer.address(), impatient());
    defer(proxy.port(), "/export/1");
    CHECK(Operator{proxy.admin_port()}.come_to(1, "state=succeeded"));
    CHECK(backend.asked == 2);
  }
}

TEST_CASE("Retry-After of a 503 holds for the jobs of its route, that of a 429 for its job alone") {
  for (const int status : {429, 503}) {
    CAPTURE(status);
    RefusingBackend backend(status, "Retry-After: 3600\r\n");
    ProxyUnderTest proxy(backend.peer.address(), impatient());
    const Operator desk{proxy.admin_port()};
    defer(proxy.port(), "/export/1");
    REQUIRE(desk.come_to(1, "state=retrying"));
    const std::string next = defer(proxy.port(), "/export/2");
    if (status == 429) REQUIRE(desk.come_to(1, "state=succeeded&route=export"));
    // A job that came later, of another route.
    defer(proxy.port(), "/mail/3");
    REQUIRE(desk.come_to(1, "state=succeeded&route=mail"));
    CHECK(desk.get("/jobs/" + next).at("state") == (status == 429 ? "succeeded" : "queued"));
    CHECK(backend.asked == (status == 429 ? 3 : 2));
  }
}
