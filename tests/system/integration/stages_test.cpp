// The ladder in the running proxy: each stage's own thresholds and rules, up at once, down one by
// one, and what the operator sees of it.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "support/proxy_under_test.hpp"
#include "system/integration/overloaded.hpp"
#include "system/integration/refusal.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

const json kDeny = {{"strategy", "deny"}, {"probability", 1}};
const json kDegrade = {{"strategy", "degrade"}, {"mode", "skip_downstream"}};

json stage(const char* name, double enter, double exit, const json& rules) {
  return {{"name", name},
          {"enter", {{"error_rate", enter}}},
          {"exit", {{"error_rate", exit}}},
          {"rules", rules}};
}

// By the share of errors: from 10 % a warning, from 40 %, from 70 %.
json ladder(const std::string& server, int window_ms, int cooldown_ms) {
  json all = overloadable(server, {{"overload",
                                    {{"window_ms", window_ms},
                                     {"cooldown_ms", cooldown_ms},
                                     {"rules", {{"P2", kDeny}}},
                                     {"stages",
                                      {stage("ELEVATED", 0.1, 0.05, json::object()),
                                       stage("OVERLOADED", 0.4, 0.3, {{"P1", kDegrade}}),
                                       stage("CRITICAL", 0.7, 0.5, {{"P1", kDeny}})}}}}});
  all["upstreams"][0].erase("overload");
  return all;
}

struct Asking {
  explicit Asking(const ProxyUnderTest& proxy) : client(proxy.port()) {}

  void succeed(int times) {
    for (int n = 0; n < times; ++n) REQUIRE(client.ask(get("/p0")).status() == 200);
  }
  void fail(int times) {
    for (int n = 0; n < times; ++n) REQUIRE(client.ask(failing("/p0")).status() == 500);
  }
  // The first tick only begins to count: from here on everything counts, and little has so far.
  void begin(const ProxyUnderTest& proxy) {
    const auto counts = [](const json& state) {
      return state["upstreams"][0]["rates"]["offered"] > 0;
    };
    const Deadline deadline;
    do {
      REQUIRE(!deadline.passed());
      succeed(1);
    } while (!proxy.state_becomes(counts, 250ms));
  }
  // Asks until it is answered so: the plan reaches the worker just after the state can be seen.
  Message until(const char* target, bool (*as_wanted)(const Message&)) {
    const Deadline deadline;
    Message answer = client.ask(get(target));
    while (!as_wanted(answer) && !deadline.passed()) answer = client.ask(get(target));
    return answer;
  }

  RawClient client;
};

bool is_denied(const Message& answer) { return answer.status() == 503; }
bool is_degraded(const Message& answer) { return answer.field("Spillway-Degraded").has_value(); }

// How often each state was entered.
std::map<std::string, int> entered(const json& state) {
  std::map<std::string, int> counts;
  for (const json& one : state["upstreams"][0]["transitions"])
    counts[one["to"].get<std::string>()] += one["count"].get<int>();
  return counts;
}

std::string transitions_to(const char* state) {
  return std::string(R"(spillway_overload_transitions_total{upstream="app",to=")") + state +
         R"(",reason="ERROR_BURST"})";
}

}  // namespace

TEST_CASE("a warning refuses no request and each further stage has rules of its own") {
  Backend backend;
  // A window that outlasts the test: the share of errors only grows.
  const ProxyUnderTest proxy(ladder(backend.peer.address(), 10'000, 3'600'000));
  const auto becomes = [&](const char* name) {
    return proxy.state_becomes([&](const json& state) { return state_is(state, name); });
  };
  const char* const state = R"(spillway_overload_state{upstream="app"})";
  Asking asking(proxy);
  asking.begin(proxy);
  asking.succeed(30);
  CHECK(state_is(proxy.state(), "NORMAL"));
  CHECK(proxy.metric(state) == 0);

  asking.fail(10);  // not quite 25 %
  REQUIRE(becomes("ELEVATED"));
  CHECK(proxy.metric(state) == 1);
  for (const char* target : {"/p1", "/p2", "/probe"}) {
    for (int n = 0; n < 2; ++n) {
      const Message answer = asking.client.ask(get(target));
      CHECK(answer.status() == 200);
      CHECK_FALSE(is_degraded(answer));
    }
  }

  asking.fail(30);  // 53 %
  REQUIRE(becomes("OVERLOADED"));
  CHECK(proxy.metric(state) == 2);
  check_refusal(asking.until("/p2", is_denied), 503, "P2", "ERROR_BURST");
  CHECK(is_degraded(asking.client.ask(get("/p1"))));
  CHECK(asking.client.ask(get("/p0")).status() == 200);

  asking.fail(80);  // 76 %, less what was asked in between
  REQUIRE(becomes("CRITICAL"));
  CHECK(proxy.metric(state) == 3);
  check_refusal(asking.until("/p1", is_denied), 503, "P1", "ERROR_BURST");
  check_refusal(asking.client.ask(get("/p2")), 503, "P2", "ERROR_BURST");
  CHECK(asking.client.ask(get("/p0")).status() == 200);

  const json page = proxy.state();
  CHECK(entered(page) ==
        std::map<std::string, int>{{"ELEVATED", 1}, {"OVERLOADED", 1}, {"CRITICAL", 1}});
  for (const char* name : {"ELEVATED", "OVERLOADED", "CRITICAL"})
    CHECK(proxy.metric(transitions_to(name)) == 1);
  const json& errors = page["upstreams"][0]["signals"]["error_rate"];
  CHECK(errors["ELEVATED"]["enter"] == 0.1);
  CHECK(errors["CRITICAL"]["exit"] == 0.5);
  CHECK(errors["CRITICAL"]["breached"] == true);
}

TEST_CASE("the ladder is climbed at once and left stage by stage") {
  Backend backend;
  const ProxyUnderTest proxy(ladder(backend.peer.address(), 300, 100));
  Asking asking(proxy);
  bool is_critical = false;
  for (const Deadline deadline; !is_critical && !deadline.passed();) {
    asking.fail(25);
    is_critical = state_is(proxy.state(), "CRITICAL");
  }
  REQUIRE(is_critical);
  // The errors leave the window: nothing speaks against leaving but the cooldown of each stage.
  REQUIRE(proxy.state_becomes([](const json& state) { return state_is(state, "NORMAL"); }));
  const auto counts = entered(proxy.state());
  CHECK(counts.at("CRITICAL") == 1);
  CHECK(counts.at("OVERLOADED") == 1);
  CHECK(counts.at("ELEVATED") == 1);
  CHECK(counts.at("NORMAL") == 1);
  const Message answer =
      asking.until("/p1", [](const Message& one) { return one.status() == 200; });
  CHECK_FALSE(is_degraded(answer));
}

}  // namespace spillway
