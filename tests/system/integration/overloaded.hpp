// An upstream that becomes overloaded when a test wants it to, and stays so: by answering 500 (a
// reason that is not one of capacity), or by requests that wait for its only slot (one that is).
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {

// Answers 500 to /fail and to what failing() asks for, holds whatever has "held" in its path until
// `go`, and echoes the target.
struct Backend {
  Event go;
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      const std::string target = request->target();
      if (target.find("held") != std::string::npos && !proxy.wait(go)) return;
      const bool sent = target == "/fail" || request->field("X-Fail")
                            ? proxy.send("HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n")
                            : proxy.send(ok(target));
      if (!sent) return;
    }
  }};

  bool holds(std::size_t requests) const {
    return peer.wait_until([&](const auto& seen) { return seen.requests == requests; });
  }
  // The head of the last request for this target as it came; empty when there was none.
  std::string head_of(std::string_view target) const {
    for (const std::string& bytes : peer.seen().received) {
      const std::size_t begin = bytes.rfind("GET " + std::string(target) + " ");
      if (begin != std::string::npos)
        return bytes.substr(begin, bytes.find("\r\n\r\n", begin) + 4 - begin);
    }
    return {};
  }
};

// Answered 500 on a path where others are not: errors of one path are not the upstream's.
inline std::string failing(std::string_view target) { return get(target, "X-Fail: 1\r\n"); }

// No request waits in vain unless a test says so.
inline nlohmann::json patient_classes(int max_queue = 8, int max_wait_ms = 3'600'000) {
  nlohmann::json all = nlohmann::json::array();
  for (const char* name : {"P0", "P1", "P2"}) {
    all.push_back({{"name", name},
                   {"max_queue", max_queue},
                   {"sla_ms", 3'600'000},
                   {"max_wait_ms", max_wait_ms}});
  }
  return all;
}

// /NAME is of this class, and what differs there from its rule.
inline nlohmann::json route(const std::string& name, const char* traffic_class,
                            const nlohmann::json& rule = nlohmann::json::object()) {
  return {{"name", name},
          {"match", {{"path", "/" + name}}},
          {"class", traffic_class},
          {"rules", {{traffic_class, rule}}}};
}

// /p0/**, /p1/** and /p2/** are of these classes, /fail of P0, and /probe of P2 is denied whenever
// there is overload. No class is, unless `changes` says so. One worker, so that who asks after the
// plan has changed for one request is decided by the new plan. `changes` are merged in; its
// "more_routes" are added. `enter` and `exit` are the only thresholds.
inline nlohmann::json overloadable(const std::string& server,
                                   const nlohmann::json& changes = nlohmann::json::object(),
                                   const nlohmann::json& enter = {{"error_rate", 0.3}},
                                   const nlohmann::json& exit = {{"error_rate", 0.1}}) {
  nlohmann::json routes = {route("p0", "P0"), route("p1", "P1"), route("p2", "P2"),
                           route("fail", "P0"),
                           route("probe", "P2", {{"strategy", "deny"}, {"probability", 1}})};
  for (int n = 0; n < 3; ++n) routes[n]["match"]["path"] = "/p" + std::to_string(n) + "/**";
  nlohmann::json all = {{"workers", 1},
                        {"classes", patient_classes()},
                        {"routes", routes},
                        {"overload",
                         {{"regulate", false},  // every rule refuses its whole share at once
                          {"tick_ms", 20},
                          {"window_ms", 2000},
                          {"cooldown_ms", 3'600'000},
                          {"rules",
                           {{"P0", {{"strategy", "allow"}}},
                            {"P1", {{"strategy", "allow"}}},
                            {"P2", {{"strategy", "allow"}}}}}}}};
  all.merge_patch(changes);
  if (all.contains("more_routes")) {
    for (const auto& one : all["more_routes"]) all["routes"].push_back(one);
    all.erase("more_routes");
  }
  // Within a list, where no merge takes null for "remove this".
  nlohmann::json upstream = {{"name", "app"}, {"servers", {server}}};
  for (const char* signal : {"inflight_ratio", "queue_ratio", "queue_wait_p95_ms", "latency_p95_ms",
                             "event_loop_lag_ms", "error_rate"}) {
    upstream["overload"]["enter"][signal] = nullptr;
    upstream["overload"]["exit"][signal] = nullptr;
  }
  upstream["overload"]["enter"].update(enter);
  upstream["overload"]["exit"].update(exit);
  all["upstreams"] = nlohmann::json::array({upstream});
  return all;
}

// Of a proxy that runs `overloadable` in enforce mode: every request from here on is decided as
// overloaded with ERROR_BURST.
inline void overload_by_errors(RawClient& client) {
  const Deadline deadline;
  while (client.ask(get("/probe")).status() == 200) {
    REQUIRE(!deadline.passed());
    client.ask(failing("/probe"));  // 500, or denied already
  }
}

inline bool state_is(const nlohmann::json& state, std::string_view name) {
  return state["upstreams"][0]["state"] == name;
}

// The only slot held, and five requests of P2 waiting for it, which nobody evicts: every request
// from here on is decided as overloaded with QUEUE_SATURATION, and every wait is predicted to be
// long.
class Crowd {
 public:
  static nlohmann::json settings(const std::string& server,
                                 const nlohmann::json& changes = nlohmann::json::object()) {
    nlohmann::json all =
        overloadable(server, changes, {{"queue_ratio", 0.5}}, {{"queue_ratio", 0.1}});
    all["dispatch"]["concurrency"] = 1;
    all["dispatch"]["evict"] = nlohmann::json::array();
    return all;
  }

  // `before`: requests that the backend has had already.
  Crowd(Backend& backend, const ProxyUnderTest& proxy, std::size_t before = 0)
      : backend_(backend), holder_(proxy.port()) {
    // The gate predicts nothing before it has seen twenty requests.
    for (int n = 0; n < 25; ++n) REQUIRE(holder_.ask(get("/p0")).status() == 200);
    holder_.send(get("/p0/held"));
    REQUIRE(backend.holds(before + 26));
    for (int n = 0; n < 4; ++n) waiting_.emplace_back(proxy.port()).send(get("/p2"));
    REQUIRE(proxy.state_becomes(
        [](const auto& state) { return state["upstreams"][0]["reason"] == "QUEUE_SATURATION"; }));
    // A later tick than the one that made the plan: the plan is on its way to the worker.
    waiting_.emplace_back(proxy.port()).send(get("/p2"));
    REQUIRE(proxy.state_becomes([](const auto& state) {
      const auto& upstream = state["upstreams"][0];
      return upstream["signals"]["queue_ratio"]["value"] > 0.62 &&
             upstream["classes"][2]["oldest_wait_ms"] > 50;
    }));
  }

  void disperse() {
    backend_.go.set();
    CHECK(holder_.read_response().status() == 200);
    for (RawClient& one : waiting_) CHECK(one.read_response().status() == 200);
  }

 private:
  Backend& backend_;
  RawClient holder_;
  std::vector<RawClient> waiting_;
};

}  // namespace spillway::support
