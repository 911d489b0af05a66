// A request with an Idempotency-Key that is answered live, and the same one again meanwhile.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kKey = "Idempotency-Key: order-7\r\n";
constexpr const char* kAsync = "Idempotency-Key: order-7\r\nPrefer: respond-async\r\n";

// Holds what has "held" in its path until `go`. Two workers, so that they have to agree.
struct Shop {
  explicit Shop(const char* when)
      : proxy(peer.address(), {{"store", {{"url", "memory:"}}},
                               {"workers", 2},
                               {"routes",
                                {{{"name", "export"},
                                  {"match", {{"path", "/export/**"}}},
                                  {"defer", {{"when", when}}}}}}}) {}
  ~Shop() { go.set(); }

  Message ask(std::string_view target, std::string_view lines) {
    return RawClient(proxy.port()).ask(post(target, "x", lines));
  }
  bool is_asked(std::size_t requests) const {
    return peer.wait_until([=](const auto& seen) { return seen.requests == requests; });
  }

  Event go;
  ScriptedPeer peer{[this](PeerConnection& connection) {
    while (const auto request = connection.read_request()) {
      const bool is_held = request->target().find("held") != std::string::npos;
      if (is_held && !connection.wait(go)) return;
      if (!connection.send(ok("done"))) return;
    }
  }};
  ProxyUnderTest proxy;
};

void check_in_hand(const Message& answer) {
  CAPTURE(answer.body);
  CHECK(answer.status() == 409);
  CHECK(answer.field("Content-Type") == "application/problem+json");
  CHECK(answer.field("Retry-After") == "1");
  const json problem = json::parse(answer.body);
  CHECK(problem.at("reason") == "IDEMPOTENCY_CONFLICT");
  CHECK(problem.at("detail").get<std::string>().find("Idempotency-Key is being answered") !=
        std::string::npos);
}

}  // namespace

TEST_CASE("a request that comes again while it is answered is refused, and sent once") {
  Shop shop("overloaded");
  RawClient first(shop.proxy.port());
  first.send(post("/export/held", "x", kKey));
  REQUIRE(shop.is_asked(1));
  for (int n = 0; n < 8; ++n) check_in_hand(shop.ask("/export/held", kKey));
  CHECK(shop.peer.seen().requests == 1);
  // Negative controls: another key, no key, the key of somebody else.
  CHECK(shop.ask("/export/1", "Idempotency-Key: order-8\r\n").status() == 200);
  CHECK(shop.ask("/export/1", "").status() == 200);
  CHECK(shop.ask("/export/1", std::string(kKey) + "Authorization: Bearer b\r\n").status() == 200);
  shop.go.set();
  CHECK(first.read_response().status() == 200);
  CHECK(first.ask(post("/export/1", "x", kKey)).status() == 200);  // it has ended
}

TEST_CASE("what its client has left is in hand as long as its upstream works on it") {
  Shop shop("overloaded");
  {
    RawClient leaver(shop.proxy.port());
    leaver.send(post("/export/held", "x", kKey));
    REQUIRE(shop.is_asked(1));
  }
  REQUIRE(shop.proxy.metric_becomes(
      R"(spillway_requests_total{route="export",class="P1",outcome="client_gone"})", 1));
  check_in_hand(shop.ask("/export/1", kKey));
  shop.go.set();
  const Deadline deadline;
  Message again;
  do {
    again = shop.ask("/export/1", kKey);
  } while (again.status() == 409 && !deadline.passed());
  CHECK(again.status() == 200);
  CHECK(shop.peer.seen().requests == 2);
}

TEST_CASE("a request that is answered live is not written down as well when it comes again") {
  Shop shop("prefer");
  RawClient first(shop.proxy.port());
  first.send(post("/export/held", "x", kKey));
  REQUIRE(shop.is_asked(1));
  check_in_hand(shop.ask("/export/held", kAsync));
  CHECK(shop.proxy.metric("spillway_jobs_accepted_total") == 0);
  // Negative control.
  CHECK(shop.ask("/export/1", "Idempotency-Key: k\r\nPrefer: respond-async\r\n").status() == 202);
  shop.go.set();
  CHECK(first.read_response().status() == 200);
  CHECK(first.ask(post("/export/1", "x", kAsync)).status() == 202);
}

TEST_CASE("of a job that its client waits for, the same request is told") {
  Shop shop("always");
  RawClient first(shop.proxy.port());
  first.send(post("/export/held", "x", std::string(kKey) + "Prefer: wait=30\r\n"));
  REQUIRE(shop.is_asked(1));
  const Message again = shop.ask("/export/held", kKey);
  CHECK(again.status() == 202);
  CHECK(again.field("Location"));
  shop.go.set();
  CHECK(first.read_response().body == "done");
  CHECK(shop.peer.seen().requests == 1);
}
