// When clients that were refused are told to come back, and what they are told of the wait.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "support/counting_backend.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/integration/refusal.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

// A backend of 20 ms behind one slot and a queue of one.
struct Narrow {
  CountingBackend backend{{.slots = 1000, .service = Milliseconds{20}}};
  ProxyUnderTest proxy{
      backend.address(),
      {{"workers", 1},
       {"default_route", {{"class", "P1"}}},
       {"classes",
        {{{"name", "P1"}, {"max_queue", 1}, {"max_wait_ms", 20'000}, {"sla_ms", 20'000}}}},
       {"overload", {{"rules", {{"P1", {{"strategy", "deny"}, {"retry_after_ms", 1000}}}}}}},
       {"dispatch", {{"concurrency", 1}}}}};

  void serve(int requests) {
    RawClient client(proxy.port());
    for (int n = 0; n < requests; ++n) REQUIRE(client.ask(get("/")).status() == 200);
  }
  // The bodies of the refusals of a crowd that comes at once.
  std::vector<json> refusals() {
    std::vector<RawClient> crowd;
    for (int n = 0; n < 40; ++n) crowd.emplace_back(proxy.port());
    for (RawClient& one : crowd) one.send(get("/"));
    std::vector<json> out;
    for (RawClient& one : crowd) {
      const Message answer = one.read_response();
      if (answer.status() == 200) continue;
      check_refusal(answer, 503, "P1", reason_of(answer));
      out.push_back(json::parse(answer.body));
    }
    return out;
  }
};

}  // namespace

TEST_CASE("clients that are refused at once are told to come back one after the other") {
  Narrow narrow;
  narrow.serve(25);
  // Until a tick has measured what the backend can do.
  REQUIRE(narrow.proxy.state_becomes(
      [](const json& state) { return state["upstreams"][0]["rates"]["completed"] >= 10; }));
  const std::vector<json> refusals = narrow.refusals();
  REQUIRE(refusals.size() >= 20);
  std::vector<int> times;
  for (const json& each : refusals) {
    times.push_back(each.at("retry_after_ms"));
    CHECK(each.at("predicted_wait_ms") >= 10);
  }
  std::sort(times.begin(), times.end());
  CHECK(times.front() >= 1000);
  // A tenth of 50 a second at most. Without a booking all would be told 1000 to 1500 ms.
  CHECK(times.back() >= 1000 + 150 * (int(times.size()) - 1));
  const json state = narrow.proxy.state()["upstreams"][0]["classes"][0];
  CHECK(state["returns_booked_ms"] > 1000);
  CHECK(state["predicted_wait_ms"].is_number());
  CHECK(narrow.proxy.metric(R"(spillway_returns_booked_seconds{upstream="app",class="P1"})") > 1);
}

TEST_CASE("as long as the backend has shown nothing Retry-After is the rule's") {
  Narrow narrow;
  for (const json& each : narrow.refusals()) {
    CHECK(each.at("retry_after_ms") >= 1000);
    CHECK(each.at("retry_after_ms") < 1500);
    CHECK_FALSE(each.contains("predicted_wait_ms"));
  }
}

}  // namespace spillway::support
