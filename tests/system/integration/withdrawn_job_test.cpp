// A job that a proxy has in hand and has not sent yet can be cancelled.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

// One slot. Each request to /held/** and /export/held keeps it until `go`.
struct House {
  ~House() { go.set(); }

  bool is_asked(std::size_t requests) const {
    return peer.wait_until([=](const auto& seen) { return seen.requests == requests; });
  }
  Message remove(const std::string& id) const {
    return RawClient(proxy.port())
        .ask("DELETE /_spillway/jobs/" + id + " HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  std::string state_of(const std::string& id) const { return desk.get("/jobs/" + id).at("state"); }

  Event go;
  ScriptedPeer peer{[this](PeerConnection& connection) {
    for (auto request = connection.read_request(); request; request = connection.read_request()) {
      if (request->target().find("held") != std::string::npos) connection.wait(go);
      connection.send(ok("done"));
    }
  }};
  ProxyUnderTest proxy{peer.address(), deferring({{"dispatch", {{"concurrency", 1}}}})};
  Operator desk{proxy.admin_port()};
};

}  // namespace

TEST_CASE("a job that waits for a slot in its proxy's hand can be cancelled, and is not sent") {
  House house;
  RawClient live(house.proxy.port());
  live.send(get("/held/1"));
  REQUIRE(house.is_asked(1));
  const std::string first = defer(house.proxy.port(), "/export/1");
  const std::string second = defer(house.proxy.port(), "/export/2");
  const std::string third = defer(house.proxy.port(), "/export/3");
  REQUIRE(house.desk.come_to(3, "state=leased"));

  const Message cancelled = house.remove(first);
  CHECK(cancelled.status() == 200);
  CHECK(json::parse(cancelled.body).at("state") == "cancelled");
  CHECK(house.desk.post("/jobs/" + second + "/cancel").at("state") == "cancelled");
  CHECK(house.state_of(first) == "cancelled");
  CHECK(house.desk.get("/jobs/" + first).at("cause") == "cancelled_by_client");
  CHECK(house.desk.get("/jobs/" + second).at("cause") == "cancelled_by_operator");
  CHECK(house.remove(first).status() == 200);  // it is
  CHECK(house.proxy.metric("spillway_jobs_cancelled_total") == 2);
  CHECK(house.proxy.metric("spillway_jobs_in_hand") == 1);
  CHECK(house.state_of(third) == "leased");

  house.go.set();
  CHECK(live.read_response().status() == 200);
  REQUIRE(house.desk.come_to(1, "state=succeeded"));
  CHECK(house.peer.seen().requests == 2);  // the live one and the third
}

TEST_CASE("a job that is at its upstream cannot be cancelled") {
  House house;
  const std::string id = defer(house.proxy.port(), "/export/held");
  REQUIRE(house.is_asked(1));
  CHECK(house.remove(id).status() == 409);
  CHECK(house.desk.ask("POST", "/jobs/" + id + "/cancel", "{}").status() == 409);
  house.go.set();
  REQUIRE(house.desk.come_to(1, "state=succeeded"));
  CHECK(house.remove(id).status() == 409);
  CHECK(house.proxy.metric("spillway_jobs_cancelled_total") == 0);
}
