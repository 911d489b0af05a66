// Dead letters: which requests that waited in vain the operator can see afterwards.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "system/integration/overloaded.hpp"
#include "system/integration/refusal.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

// One slot, held; P1 waits for 30 ms, /soon has a deadline of 20 ms.
struct Impatient {
  explicit Impatient(const char* expire_policy, json dispatch = json::object())
      : proxy(overloadable(backend.peer.address(), settings(expire_policy, std::move(dispatch)))),
        holder(proxy.port()) {
    holder.send(get("/p0/held"));
    REQUIRE(backend.holds(1));
  }

  static json settings(const char* expire_policy, json dispatch) {
    dispatch["concurrency"] = 1;
    dispatch["expire_policy"] = expire_policy;
    json soon = route("soon", "P1");
    soon["deadline_ms"] = 20;
    return {{"dispatch", dispatch}, {"classes", patient_classes(4, 30)}, {"more_routes", {soon}}};
  }

  json letters() const { return proxy.state()["upstreams"][0]["dead_letters"]; }
  Message ask(const std::string& target, const std::string& id) {
    return RawClient(proxy.port()).ask(get(target, "X-Request-Id: " + id + "\r\n"));
  }

  Backend backend;
  ProxyUnderTest proxy;
  RawClient holder;
};

}  // namespace

TEST_CASE("a request that waited in vain is kept with what is needed to find it again") {
  Impatient impatient("dead_letter");
  CHECK(impatient.letters() == json{{"total", 0}, {"newest_first", json::array()}});
  check_refusal(impatient.ask("/p1/order?n=7", "order-7"), 503, "P1", "QUEUE_TIMEOUT");
  check_refusal(impatient.ask("/soon", "soon-1"), 503, "P1", "DEADLINE_EXPIRED");

  const json letters = impatient.letters();
  CHECK(letters["total"] == 2);
  REQUIRE(letters["newest_first"].size() == 2);
  const json& newest = letters["newest_first"][0];
  CHECK(newest["reason"] == "DEADLINE_EXPIRED");
  CHECK(newest["route"] == "soon");
  CHECK(newest["request_id"] == "soon-1");
  const json& oldest = letters["newest_first"][1];
  CHECK(oldest["reason"] == "QUEUE_TIMEOUT");
  CHECK(oldest["class"] == "P1");
  CHECK(oldest["route"] == "p1");
  CHECK(oldest["method"] == "GET");
  CHECK(oldest["path"] == "/p1/order");
  CHECK(oldest["request_id"] == "order-7");
  CHECK(oldest["tenant"] == "127.0.0.1");
  CHECK(oldest["waited_ms"] >= 30);
  CHECK(oldest["time"] <= newest["time"]);
}

TEST_CASE("only as many dead letters are kept as configured and the newest of them") {
  Impatient impatient("dead_letter", {{"dead_letters", 2}});
  for (const char* id : {"one", "two", "three"}) impatient.ask("/p1", id);
  const json letters = impatient.letters();
  CHECK(letters["total"] == 3);
  REQUIRE(letters["newest_first"].size() == 2);
  CHECK(letters["newest_first"][0]["request_id"] == "three");
  CHECK(letters["newest_first"][1]["request_id"] == "two");
}

TEST_CASE("a request that is evicted, refused for a full queue or served leaves no dead letter") {
  Impatient impatient("dead_letter", {{"late", "process_with_tag"}});
  const auto waiting = [&](const char* traffic_class, int place) {
    RawClient client(impatient.proxy.port());
    client.send(get(traffic_class == std::string("P0") ? "/p0" : "/p2"));
    REQUIRE(impatient.proxy.metric_becomes(
        std::string(R"(spillway_queue_depth{upstream="app",class=")") + traffic_class + "\"}",
        place));
    return client;
  };
  std::vector<RawClient> low, high;
  for (int n = 1; n <= 4; ++n) low.push_back(waiting("P2", n));
  for (int n = 1; n <= 5; ++n) high.push_back(waiting("P0", n));
  check_refusal(low.back().read_response(), 503, "P2", "EVICTED");
  low.pop_back();
  low.push_back(waiting("P2", 4));
  impatient.backend.go.set();
  for (RawClient& client : high) CHECK(client.read_response().status() == 200);
  CHECK(impatient.letters()["total"] == 0);
}

TEST_CASE("no dead letters are kept without that policy") {
  Impatient impatient("drop");
  check_refusal(impatient.ask("/p1", "one"), 503, "P1", "QUEUE_TIMEOUT");
  check_refusal(impatient.ask("/soon", "two"), 503, "P1", "DEADLINE_EXPIRED");
  CHECK(impatient.letters() == json{{"total", 0}, {"newest_first", json::array()}});
}

}  // namespace spillway
