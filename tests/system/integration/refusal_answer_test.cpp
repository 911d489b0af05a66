// What is stored, or else the fallback, goes before every refusal where a rule degrades: whatever
// refuses the request, in NORMAL and OVERLOADED.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "system/integration/origin.hpp"
#include "system/integration/refusal.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

constexpr int kHour = 3'600'000;

json degrade(json more = json::object()) {
  json rule = {{"strategy", "degrade"}, {"mode", "stale_ok"}};
  rule.update(more);
  return rule;
}

// The negative control. It refuses no request in OVERLOADED: only the gate does.
json deny() { return {{"strategy", "deny"}, {"probability", 0}}; }

// /stored has something in its cache, /prepared has a fallback, both of P1; /p1 and /p0 take up
// slot and queue.
struct Place {
  int max_queue = 8;
  int max_wait_ms = kHour;
  int deadline_ms = kHour;
  json evict = json::array();

  json settings(const std::string& server, const json& rule, const char* mode = "enforce") const {
    json stored = cached_route("stored", rule);
    json prepared = route("prepared", "P1", rule);
    prepared["cache"] = cache();  // with nothing in it
    prepared["fallback"] = {{"status", 203}, {"json", {{"body", "[]"}}}};
    stored["deadline_ms"] = prepared["deadline_ms"] = deadline_ms;
    return overloadable(server, {{"more_routes", {stored, prepared}},
                                 {"classes", patient_classes(max_queue, max_wait_ms)},
                                 {"overload", {{"mode", mode}}},
                                 {"dispatch", {{"concurrency", 1}, {"evict", evict}}}});
  }
};

struct Scene {
  Scene(const Place& place, const json& rule, const char* mode = "enforce")
      : proxy(place.settings(origin.peer.address(), rule, mode)), client(proxy.port()) {
    stored = client.ask(get("/stored?old")).body;
  }

  void hold_the_slot() {
    const std::size_t before = origin.peer.seen().requests;
    crowd.emplace_back(proxy.port()).send(get("/p1/?held"));
    REQUIRE(origin.peer.wait_until([&](const auto& seen) { return seen.requests == before + 1; }));
  }
  void wait_in(const char* traffic_class, int place) {
    crowd.emplace_back(proxy.port()).send(get(traffic_class[1] == '0' ? "/p0" : "/p1"));
    REQUIRE(proxy.metric_becomes(depth(traffic_class), place));
  }
  static std::string depth(const char* traffic_class) {
    return std::string(R"(spillway_queue_depth{upstream="app",class=")") + traffic_class + "\"}";
  }
  void disperse() {
    origin.go.set();
    for (RawClient& one : crowd) CHECK(one.read_response().status() == 200);
  }

  Origin origin;
  ProxyUnderTest proxy;
  RawClient client;
  std::vector<RawClient> crowd;
  std::string stored;  // the body of the stored response
};

// A way to be refused by the gate.
struct Way {
  std::string reason;
  Place place;
  // Makes the place such that a request of P1 is refused, and asks.
  std::function<Message(Scene&, const std::string& target)> ask;
};

Message ask(Scene& scene, const std::string& target) { return scene.client.ask(get(target)); }

std::vector<Way> ways() {
  return {
      {"QUEUE_FULL",
       {.max_queue = 1},
       [](Scene& scene, const std::string& target) {
         scene.hold_the_slot();
         scene.wait_in("P1", 1);
         return ask(scene, target);
       }},
      {"QUEUE_WAIT_RISK",
       {.deadline_ms = 300},
       [](Scene& scene, const std::string& target) {
         for (int n = 0; n < 20; ++n) REQUIRE(ask(scene, "/p1/").status() == 200);
         scene.hold_the_slot();
         scene.wait_in("P1", 1);
         // A slot that was not given back for so long will not be for as long again.
         REQUIRE(scene.proxy.state_becomes([](const json& state) {
           return state["upstreams"][0]["classes"][1]["oldest_wait_ms"] > 300;
         }));
         return ask(scene, target);
       }},
      {"QUEUE_TIMEOUT",
       {.max_wait_ms = 100},
       [](Scene& scene, const std::string& target) {
         scene.hold_the_slot();
         return ask(scene, target);
       }},
      {"DEADLINE_EXPIRED",
       {.deadline_ms = 300},
       [](Scene& scene, const std::string& target) {
         scene.hold_the_slot();
         return ask(scene, target);
       }},
      {"EVICTED",
       {.max_queue = 1, .evict = {"P1"}},
       [](Scene& scene, const std::string& target) {
         scene.hold_the_slot();
         scene.client.send(get(target));
         REQUIRE(scene.proxy.metric_becomes(Scene::depth("P1"), 1));
         scene.wait_in("P0", 1);
         scene.wait_in("P0", 2);
         return scene.client.read_response();
       }},
  };
}

std::string degraded(const std::string& reason) {
  return R"(spillway_degraded_total{class="P1",mode="stale_ok",reason=")" + reason + "\"}";
}

}  // namespace

TEST_CASE("in NORMAL what is stored goes before every refusal of the gate") {
  for (const Way& way : ways()) {
    CAPTURE(way.reason);
    Scene scene(way.place, degrade());
    const Message answer = way.ask(scene, "/stored?old");
    CHECK(answer.status() == 200);
    CHECK(answer.body == scene.stored);
    CHECK(field(answer, "Spillway-Degraded") == "mode=stale_ok; reason=" + way.reason);
    CHECK(field(answer, "Cache-Status").starts_with("spillway; hit; ttl=-"));
    CHECK_FALSE(answer.field("Retry-After"));
    CHECK(scene.proxy.metric_becomes(degraded(way.reason), 1));
    CHECK(scene.proxy.metric(R"(spillway_denied_total{class="P1",reason=")" + way.reason + "\"}") ==
          0);
    CHECK(state_is(scene.proxy.state(), "NORMAL"));
    scene.disperse();
  }
}

TEST_CASE("in NORMAL and OVERLOADED the fallback goes before every refusal of the gate") {
  for (const bool is_overloaded : {false, true}) {
    for (const Way& way : ways()) {
      CAPTURE(is_overloaded);
      CAPTURE(way.reason);
      Scene scene(way.place, degrade());
      if (is_overloaded) overload_by_errors(scene.client);
      const Message answer = way.ask(scene, "/prepared");
      CHECK(answer.status() == 203);
      CHECK(answer.body == "[]");
      CHECK(field(answer, "Spillway-Degraded") == "mode=stale_ok; reason=" + way.reason);
      CHECK(scene.proxy.metric_becomes(degraded(way.reason), 1));
      CHECK(state_is(scene.proxy.state(), is_overloaded ? "OVERLOADED" : "NORMAL"));
      scene.disperse();
    }
  }
}

TEST_CASE("where the rule does not degrade the gate refuses whatever is stored or prepared") {
  for (const bool is_overloaded : {false, true}) {
    for (const Way& way : ways()) {
      for (const char* target : {"/stored?old", "/prepared"}) {
        CAPTURE(is_overloaded);
        CAPTURE(std::string(target));
        CAPTURE(way.reason);
        Scene scene(way.place, deny());
        if (is_overloaded) overload_by_errors(scene.client);
        check_refusal(way.ask(scene, target), 503, "P1", way.reason);
        scene.disperse();
      }
    }
  }
}

TEST_CASE("a rule that says deny on a miss gives no fallback in place of the refusal") {
  for (const Way& way : ways()) {
    Scene scene(way.place, degrade({{"miss", "deny"}}));
    check_refusal(way.ask(scene, "/prepared"), 503, "P1", way.reason);
    scene.disperse();
  }
}

TEST_CASE("an unsafe request is refused where only a success could be given") {
  const Place place{.max_queue = 1};
  Scene scene(place, degrade());
  scene.hold_the_slot();
  scene.wait_in("P1", 1);
  check_refusal(scene.client.ask(post("/prepared", "x")), 503, "P1", "QUEUE_FULL");
  check_refusal(scene.client.ask(post("/stored?old", "x")), 503, "P1", "QUEUE_FULL");
  CHECK(scene.client.ask(get("/prepared")).status() == 203);
  scene.disperse();
}

TEST_CASE("cache_only without a stored response gives the fallback before it refuses") {
  Scene scene({}, degrade({{"mode", "cache_only"}}));
  overload_by_errors(scene.client);
  const Message answer = scene.client.ask(get("/prepared"));
  CHECK(answer.status() == 203);
  CHECK(field(answer, "Spillway-Degraded") == "mode=cache_only; reason=ERROR_BURST");
  check_refusal(scene.client.ask(get("/stored/other")), 503, "P1", "ERROR_BURST");
}

TEST_CASE("a response stored meanwhile answers a request that waited in vain") {
  Event first, second;
  const ScriptedPeer peer([&](PeerConnection& connection) {
    while (const auto request = connection.read_request()) {
      const std::string target = request->target();
      if (target == "/p1/first" && !connection.wait(first)) return;
      if (target == "/p1/second" && !connection.wait(second)) return;
      if (!connection.send(ok(target, "Cache-Control: max-age=60\r\n"))) return;
    }
  });
  const ProxyUnderTest proxy(Place{.max_wait_ms = 1500}.settings(peer.address(), degrade()));
  std::vector<RawClient> crowd;
  int waiting = -1;
  for (const char* target : {"/p1/first", "/stored/new", "/p1/second", "/stored/new"}) {
    crowd.emplace_back(proxy.port()).send(get(target));
    REQUIRE(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
    REQUIRE(proxy.metric_becomes(Scene::depth("P1"), ++waiting));
  }
  first.set();
  CHECK_FALSE(crowd[1].read_response().field("Spillway-Degraded"));
  const Message answer = crowd[3].read_response();
  CHECK(answer.body == "/stored/new");
  CHECK(field(answer, "Spillway-Degraded") == "mode=stale_ok; reason=QUEUE_TIMEOUT");
  CHECK(field(answer, "Server-Timing").starts_with("queue;dur=1"));
  second.set();
  CHECK(crowd[2].read_response().status() == 200);
}

TEST_CASE("followers of a request that waited in vain get the stored response too") {
  Origin origin;
  json settings = Place{.max_wait_ms = 200}.settings(origin.peer.address(), degrade());
  settings["routes"][5]["cache"]["serve"] = "fresh";  // so that misses are shared
  REQUIRE(settings["routes"][5]["name"] == "stored");
  const ProxyUnderTest proxy(settings);
  RawClient holder(proxy.port());
  const std::string stored = holder.ask(get("/stored?old")).body;
  holder.send(get("/p1/?held"));
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 2; }));
  std::vector<RawClient> crowd;
  for (int n = 0; n < 5; ++n) crowd.emplace_back(proxy.port()).send(get("/stored?old"));
  REQUIRE(proxy.metric_becomes(Scene::depth("P1"), 1));  // the leader
  for (RawClient& one : crowd) {
    const Message answer = one.read_response();
    CHECK(answer.status() == 200);
    CHECK(answer.body == stored);
    CHECK(field(answer, "Spillway-Degraded") == "mode=stale_ok; reason=QUEUE_TIMEOUT");
    CHECK(field(answer, "Cache-Status").starts_with("spillway; hit; ttl=-"));
  }
  origin.go.set();
  CHECK(holder.read_response().status() == 200);
}

TEST_CASE("an open circuit is no reason to keep back the fallback") {
  Place place;
  json settings = place.settings("", degrade());
  Origin origin;
  settings["upstreams"][0]["servers"] = {origin.peer.address()};
  settings["upstreams"][0]["circuit_breaker"] = {
      {"consecutive_failures", 3}, {"open_ms", kHour}, {"max_open_ms", kHour}};
  const ProxyUnderTest proxy(settings);
  RawClient client(proxy.port());
  overload_by_errors(client);
  for (int n = 0; n < 3; ++n) client.ask(get("/fail"));
  check_refusal(client.ask(get("/p1")), 503, "P1", "CIRCUIT_OPEN");
  const Message answer = client.ask(get("/prepared"));
  CHECK(answer.status() == 203);
  CHECK(field(answer, "Spillway-Degraded") == "mode=stale_ok; reason=CIRCUIT_OPEN");
}

TEST_CASE("in shadow mode the gate's refusals change no response") {
  const Place place{.max_queue = 1};
  Scene scene(place, degrade(), "shadow");
  scene.hold_the_slot();
  scene.hold_the_slot();  // its ghost waits
  REQUIRE(scene.proxy.metric_becomes(Scene::depth("P1"), 1));
  for (const char* target : {"/stored?old", "/prepared"}) {
    const Message answer = scene.client.ask(get(target));
    CHECK(answer.status() == 200);
    CHECK(answer.body != scene.stored);
    CHECK_FALSE(answer.field("Spillway-Degraded"));
  }
  CHECK(scene.proxy.metric_becomes(
      R"(spillway_shadow_total{class="P1",outcome="degraded",reason="QUEUE_FULL"})", 2));
  scene.disperse();
}

}  // namespace spillway::support
