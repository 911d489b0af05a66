// Which refusals become jobs, by their reason, as clients notice it. Each time the same request on
// a route without `defer` is refused: the control, which shows the reason.
#include <doctest/doctest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/proxy_process.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/overloaded.hpp"
#include "system/integration/refusal.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const json kDeny{{"strategy", "deny"}, {"probability", 1}};
constexpr const char* kDepthOfP2 = R"(spillway_queue_depth{upstream="app",class="P2"})";

// /later is deferred, /plain is not; else they are the same.
json two_routes(const char* traffic_class, const json& rule) {
  json later = route("later", traffic_class, rule);
  later["defer"] = json::object();
  return json::array({later, route("plain", traffic_class, rule)});
}

json with_routes(const json& routes, json more = json::object()) {
  more["store"] = {{"url", "memory:"}};
  more["more_routes"] = routes;
  return more;
}

std::string later() { return post("/later", "x"); }
std::string plain() { return post("/plain", "x"); }

// The only slot is held until `backend.go`, and so many requests of each class may wait for it.
struct OneSlot {
  explicit OneSlot(int max_queue)
      : proxy(overloadable(
            backend.peer.address(),
            with_routes(two_routes("P2", json::object()), {{"classes", patient_classes(max_queue)},
                                                           {"dispatch", {{"concurrency", 1}}}}))),
        holder(proxy.port()) {
    holder.send(get("/p0/held"));
    REQUIRE(backend.holds(1));
  }
  ~OneSlot() { backend.go.set(); }

  bool come_to_queue(const char* sample, int count) const {
    return proxy.metric_becomes(sample, count);
  }
  bool is_done() {
    backend.go.set();
    return Operator{proxy.admin_port()}.come_to(1, "state=succeeded&route=later");
  }

  Backend backend;
  ProxyUnderTest proxy;
  RawClient holder;
};

}  // namespace

TEST_CASE("what a rule denies under overload is deferred, and what it drops is not") {
  Backend backend;
  json routes = two_routes("P2", kDeny);
  json dropped = route("dropped", "P2", {{"strategy", "drop"}, {"probability", 1}});
  dropped["defer"] = json::object();
  routes.push_back(dropped);
  ProxyUnderTest proxy(overloadable(backend.peer.address(), with_routes(routes)));
  RawClient client(proxy.port());
  CHECK(client.ask(later()).status() == 200);
  overload_by_errors(client);
  CHECK(client.ask(later()).status() == 202);
  check_refusal(client.ask(plain()), 503, "P2", "ERROR_BURST");
  client.send(post("/dropped", "x"));
  CHECK(client.read_to_end() == "");
  CHECK(proxy.metric("spillway_jobs_accepted_total") == 1);
}

TEST_CASE("what finds its queue full is deferred, and done when a slot is free") {
  OneSlot slot(1);
  RawClient waiting(slot.proxy.port()), client(slot.proxy.port());
  waiting.send(plain());
  REQUIRE(slot.come_to_queue(kDepthOfP2, 1));
  CHECK(client.ask(later()).status() == 202);
  check_refusal(client.ask(plain()), 503, "P2", "QUEUE_FULL");
  CHECK(slot.is_done());
  CHECK(waiting.read_response().status() == 200);
}

TEST_CASE("what gives way to a more urgent request is deferred") {
  for (const bool is_later : {true, false}) {
    CAPTURE(is_later);
    OneSlot slot(2);
    RawClient oldest(slot.proxy.port()), youngest(slot.proxy.port());
    oldest.send(plain());
    REQUIRE(slot.come_to_queue(kDepthOfP2, 1));
    youngest.send(is_later ? later() : plain());
    REQUIRE(slot.come_to_queue(kDepthOfP2, 2));
    std::vector<RawClient> urgent;
    for (int n = 1; n <= 3; ++n) {
      urgent.emplace_back(slot.proxy.port()).send(get("/p0"));
      REQUIRE(slot.come_to_queue(R"(spillway_queue_depth{upstream="app",class="P0"})", n));
    }
    const Message answer = youngest.read_response();
    if (!is_later) {
      check_refusal(answer, 503, "P2", "EVICTED");
      continue;
    }
    CHECK(answer.status() == 202);
    CHECK(slot.is_done());
  }
}

TEST_CASE("what meets an open circuit is deferred, and not sent") {
  Backend backend;
  const json breaker{
      {"consecutive_failures", 1}, {"open_ms", 3'600'000}, {"max_open_ms", 3'600'000}};
  json settings =
      overloadable(backend.peer.address(), with_routes(two_routes("P2", json::object())),
                   {{"error_rate", nullptr}}, {{"error_rate", nullptr}});
  settings["upstreams"][0]["circuit_breaker"] = breaker;
  ProxyUnderTest proxy(settings);
  RawClient client(proxy.port());
  CHECK(client.ask(failing("/p0")).status() == 500);
  CHECK(client.ask(later()).status() == 202);
  check_refusal(client.ask(plain()), 503, "P2", "CIRCUIT_OPEN");
  CHECK(backend.peer.seen().requests == 1);
}

TEST_CASE("what is refused for event-loop lag is not deferred") {
  Backend backend;
  ProxyProcess proxy(overloadable(backend.peer.address(), with_routes(two_routes("P2", kDeny)),
                                  {{"event_loop_lag_ms", 100}}, {{"event_loop_lag_ms", 10}}));
  const Operator desk{proxy.admin_port()};
  // A tenth of a second later it is over: on a busy machine that may pass without a tick.
  bool lags = false;
  for (int stall = 0; stall < 10 && !lags; ++stall) {
    const Event nothing;
    proxy.process().signal(SIGSTOP);
    CHECK_FALSE(nothing.wait(Milliseconds(1000)));  // the stall itself: only real time can be late
    proxy.process().signal(SIGCONT);
    for (const Deadline deadline(Milliseconds(500)); !lags && !deadline.passed();)
      lags = desk.get("/state")["upstreams"][0]["reason"] == "EVENT_LOOP_LAG";
  }
  REQUIRE(lags);
  RawClient client(proxy.port());
  Message refused = client.ask(later());
  for (const Deadline deadline; refused.status() == 200 && !deadline.passed();)
    refused = client.ask(later());  // the plan is on its way to the worker
  check_refusal(refused, 503, "P2", "EVENT_LOOP_LAG");
  CHECK(desk.get("/state")["jobs"]["accepted"] == 0);
}
