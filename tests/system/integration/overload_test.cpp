// A backend that cannot do all that is asked of it, and what becomes of each class.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/counting_backend.hpp"
#include "support/open_load.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/integration/refusal.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;
using TestClock = std::chrono::steady_clock;

// 8 slots of 20 ms: 400 requests a second.
constexpr Capacity kBackend{8, 20ms};
constexpr Milliseconds kCooldown{800};

const json kRoutes = json::parse(R"([
  {"name": "checkout", "match": {"path": "/checkout"}, "class": "P0"},
  {"name": "search", "match": {"path": "/search"}, "class": "P1"},
  {"name": "export", "match": {"path": "/export"}, "class": "P2"}])");

// About four times what the backend can do; the first class alone is well below it.
const std::vector<LoadStream> kLoad{
    {get("/checkout"), 160}, {get("/search"), 480}, {get("/export"), 960}};

bool is_overloaded(const json& state) { return state["upstreams"][0]["state"] == "OVERLOADED"; }
bool is_normal(const json& state) { return state["upstreams"][0]["state"] == "NORMAL"; }

// Of all routes with this class and outcome.
double requests(const std::string& metrics, const std::string& traffic_class,
                const std::string& outcome) {
  double sum = 0;
  const std::string labels = "class=\"" + traffic_class + "\",outcome=\"" + outcome + "\"} ";
  for (std::size_t at = 0; (at = metrics.find("\nspillway_requests_total{", at)) != metrics.npos;) {
    const std::string line = metrics.substr(at + 1, metrics.find('\n', at + 1) - at - 1);
    const std::size_t found = line.find(labels);
    if (found != line.npos) sum += std::strtod(line.c_str() + found + labels.size(), nullptr);
    ++at;
  }
  return sum;
}

}  // namespace

TEST_CASE("four times the capacity costs the lowest class its answers and not the highest") {
  CountingBackend backend(kBackend);
  const ProxyUnderTest proxy(
      backend.address(),
      {{"routes", kRoutes},
       {"dispatch", {{"concurrency", kBackend.slots}}},
       {"overload", {{"tick_ms", 50}, {"window_ms", 800}, {"cooldown_ms", kCooldown.count()}}}});

  json overloaded;
  TestClock::time_point entered;
  std::thread watcher([&] {
    proxy.state_becomes([&](const json& state) {
      if (!is_overloaded(state)) return false;
      overloaded = state["upstreams"][0];
      entered = TestClock::now();
      return true;
    });
  });
  const auto results = run_open_load(proxy.port(), kLoad, 2500ms, 1000ms);
  watcher.join();
  const LoadResult& p0 = results[0];
  const LoadResult& p2 = results[2];

  // Which were served.
  CHECK(p0.ok_share() >= 0.999);
  CHECK(p2.ok_share() < 0.5);
  CHECK(p2.answered(503) > p2.sent / 2);
  CHECK(backend.seen().most_in_progress == kBackend.slots);
  for (const LoadResult& each : results) {
    CHECK(each.unanswered == 0);
    CHECK(each.given_up == 0);
    CHECK(each.answered(200) + each.answered(503) == each.sent);  // no 429: no client is at fault
  }
  REQUIRE(!p2.refusals.empty());
  for (const Message& refusal : p2.refusals) {
    check_refusal(refusal, 503, "P2", reason_of(refusal));
  }

  // What the operator sees: the state and why, and its end after the cooldown.
  REQUIRE(overloaded.is_object());
  CHECK(overloaded["reason"].is_string());
  CHECK(overloaded["transitions"][0]["to"] == "OVERLOADED");
  CHECK(proxy.state_becomes(is_normal));
  CHECK(TestClock::now() - entered >= kCooldown - 100ms);

  const std::string metrics = proxy.metrics();
  for (std::size_t c = 0; c < results.size(); ++c) {
    const std::string name = "P" + std::to_string(c);
    CAPTURE(name);
    double offered = 0;
    for (const char* outcome : {"forwarded", "cached", "degraded", "denied", "dropped", "expired",
                                "evicted", "error", "client_gone"}) {
      offered += requests(metrics, name, outcome);
    }
    CHECK(offered == results[c].sent);
    CHECK(requests(metrics, name, "forwarded") == results[c].answered(200));
    CHECK(requests(metrics, name, "denied") + requests(metrics, name, "expired") +
              requests(metrics, name, "evicted") ==
          results[c].answered(503));
    CHECK(proxy.metric("spillway_queue_depth{upstream=\"app\",class=\"" + name + "\"}") == 0);
  }
  CHECK(proxy.metric(R"(spillway_inflight{upstream="app"})") == 0);
  CHECK(proxy.metric(R"(spillway_overload_state{upstream="app"})") == 0);
}

TEST_CASE("the same load without gate and rules takes the highest class down with it") {
  raise_descriptor_limit();
  CountingBackend backend(kBackend);
  const ProxyUnderTest proxy(backend.address(), {{"routes", kRoutes},
                                                 {"dispatch", {{"concurrency", 10000}}},
                                                 {"overload",
                                                  {{"rules",
                                                    {{"P0", {{"strategy", "allow"}}},
                                                     {"P1", {{"strategy", "allow"}}},
                                                     {"P2", {{"strategy", "allow"}}}}}}}});
  const auto results = run_open_load(proxy.port(), kLoad, 1500ms, 500ms);
  CHECK(results[0].ok_share() < 0.7);
  CHECK(backend.seen().most_in_progress > 10 * kBackend.slots);
}

}  // namespace spillway
