// Every discipline in the running proxy: whose turn it is when the only slot gets free.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "system/integration/overloaded.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

// One slot, held until all have queued in a known order; then the order in which they are served.
class Turns {
 public:
  explicit Turns(json settings)
      : peer_([this](PeerConnection& proxy) {
          while (const auto request = proxy.read_request()) {
            {
              const std::lock_guard lock(mutex_);
              served_.push_back(request->target());
            }
            if (!proxy.wait(go_) || !proxy.send(ok("hi"))) return;
          }
        }),
        proxy_(overloadable(peer_.address(), with_one_slot(std::move(settings)))) {
    clients_.emplace_back(proxy_.port()).send(get("/p1/holder"));
    REQUIRE(peer_.wait_until([](const auto& seen) { return seen.requests == 1; }));
  }

  void queue(const std::string& target, std::string_view fields = {}) {
    clients_.emplace_back(proxy_.port()).send(get(target, fields));
    const int waiting = static_cast<int>(clients_.size()) - 1;
    REQUIRE(proxy_.state_becomes(
        [&](const json& state) { return state["upstreams"][0]["dispatch"]["queued"] == waiting; }));
  }

  std::vector<std::string> serve() {
    go_.set();
    for (RawClient& client : clients_) CHECK(client.read_response().status() == 200);
    CHECK(proxy_.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
    const std::lock_guard lock(mutex_);
    return {served_.begin() + 1, served_.end()};
  }

  const ProxyUnderTest& proxy() const { return proxy_; }

 private:
  static json with_one_slot(json settings) {
    settings["dispatch"]["concurrency"] = 1;
    return settings;
  }

  Event go_;
  std::mutex mutex_;
  std::vector<std::string> served_;
  ScriptedPeer peer_;
  ProxyUnderTest proxy_;
  std::vector<RawClient> clients_;
};

json discipline(const char* name) { return {{"dispatch", {{"discipline", name}}}}; }

using Order = std::vector<std::string>;

}  // namespace

TEST_CASE("strict priority serves the highest class first whoever came first") {
  Turns turns(discipline("pq"));
  for (const char* target : {"/p2/a", "/p1/b", "/p0/c", "/p2/d", "/p0/e"}) turns.queue(target);
  CHECK(turns.serve() == Order{"/p0/c", "/p0/e", "/p1/b", "/p2/a", "/p2/d"});
}

TEST_CASE("round robin serves one of each class in turn") {
  Turns turns(discipline("rr"));
  for (const char* target : {"/p0/a", "/p0/b", "/p0/c", "/p2/d"}) turns.queue(target);
  const Order served = turns.serve();
  const auto place = std::find(served.begin(), served.end(), "/p2/d") - served.begin();
  CHECK(place <= 1);
}

TEST_CASE("earliest deadline first goes by the deadlines of routes") {
  json settings = discipline("edf");
  settings["more_routes"] = {route("late", "P0"), route("soon", "P2"), route("middle", "P1")};
  settings["more_routes"][0]["deadline_ms"] = 3'000'000;
  settings["more_routes"][1]["deadline_ms"] = 1'000'000;
  settings["more_routes"][2]["deadline_ms"] = 2'000'000;
  Turns turns(settings);
  for (const char* target : {"/late", "/middle", "/soon"}) turns.queue(target);
  CHECK(turns.serve() == Order{"/soon", "/middle", "/late"});
}

TEST_CASE("earliest deadline first does not go by the deadlines of clients") {
  json settings = discipline("edf");
  settings["more_routes"] = {route("late", "P2"), route("soon", "P0")};
  settings["more_routes"][0]["deadline_ms"] = 3'000'000;
  settings["more_routes"][1]["deadline_ms"] = 2'000'000;
  Turns turns(settings);
  turns.queue("/late", "X-Request-Deadline: 1000000ms\r\n");
  turns.queue("/late", "grpc-timeout: 1000S\r\n");
  turns.queue("/soon");
  CHECK(turns.serve() == Order{"/soon", "/late", "/late"});
}

TEST_CASE("disciplines by weight serve the heavier class more often and the lighter one at all") {
  for (const char* name : {"wrr", "drr", "wfq"}) {
    CAPTURE(name);
    json settings = discipline(name);
    settings["dispatch"]["dynamic_weights"] = false;
    settings["classes"] = patient_classes(16);
    settings["classes"][0]["weight"] = 3;
    Turns turns(settings);
    for (int n = 0; n < 12; ++n) {
      turns.queue("/p2/x");
      turns.queue("/p0/x");
    }
    const Order served = turns.serve();
    REQUIRE(served.size() == 24);
    const auto top = std::count(served.begin(), served.begin() + 12, "/p0/x");
    CHECK(top >= 7);
    CHECK(top <= 11);
  }
}

TEST_CASE("every discipline serves a burst of all classes and each class in order") {
  for (const char* name : {"pq", "rr", "wrr", "drr", "wfq", "aging", "edf"}) {
    CAPTURE(name);
    Turns turns(discipline(name));
    Order asked;
    for (int n = 0; n < 4; ++n) {
      for (const char* traffic_class : {"/p2/", "/p0/", "/p1/"}) {
        asked.push_back(traffic_class + std::to_string(n));
        turns.queue(asked.back());
      }
    }
    Order served = turns.serve();
    for (const char* traffic_class : {"/p0/", "/p1/", "/p2/"}) {
      Order of_class;
      std::copy_if(served.begin(), served.end(), std::back_inserter(of_class),
                   [&](const std::string& one) { return one.starts_with(traffic_class); });
      CHECK(std::is_sorted(of_class.begin(), of_class.end()));
    }
    std::sort(served.begin(), served.end());
    std::sort(asked.begin(), asked.end());
    CHECK(served == asked);
    CHECK(turns.proxy().state_becomes([&](const json& state) {
      const json& upstream = state["upstreams"][0];
      return upstream["dispatch"]["discipline"] == name &&
             upstream["classes"][2]["enqueued"] == 4 && upstream["classes"][2]["completed"] == 4;
    }));
  }
}

}  // namespace spillway
