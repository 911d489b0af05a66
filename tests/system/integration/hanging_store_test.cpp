// A store that does not answer: what would be deferred is refused at once, and live requests do not
// notice.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/postgres.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/refusal.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kAvailable = "spillway_store_available";

// /export is always deferred, /orders only for want of room, of which there is enough.
json with_orders(const std::string& url) {
  json settings = deferring({{"store", {{"url", url}}}});
  settings["routes"].push_back({{"name", "orders"},
                                {"match", {{"path", "/orders/**"}}},
                                {"class", "P2"},
                                {"defer", {{"order_by", "X-Account"}}}});
  return settings;
}

std::string key(int number) {
  return "X-Account: 7\r\nIdempotency-Key: order-" + std::to_string(number) + "\r\n";
}

}  // namespace

TEST_CASE("while the store hangs deferrals are refused at once, and live requests do not notice") {
  Postgres postgres;
  const std::string url = postgres.create_database();
  const ScriptedPeer peer(ok("done"));
  ProxyUnderTest proxy(peer.address(), with_orders(url));
  RawClient client(proxy.port());
  const Message first = client.ask(post("/export/1", "x"));
  REQUIRE(first.status() == 202);  // the control
  REQUIRE(client.ask(post("/orders/1", "x", key(1))).status() == 200);
  REQUIRE(Operator{proxy.admin_port()}.come_to(1, "state=succeeded"));

  postgres.freeze();
  RawClient early(proxy.port());
  early.send(post("/export/2", "x"));
  REQUIRE(proxy.metric_becomes(kAvailable, 0));
  for (int n = 0; n < 20; ++n) {
    const TimePoint began = Clock::now();
    check_refusal(client.ask(post("/export/3", "x")), 503, "P2", "STORE_UNAVAILABLE");
    CHECK(Clock::now() - began < kSoon);
  }
  // The store is not asked about their keys and their order, for which each would wait 200 ms.
  const TimePoint began = Clock::now();
  for (int n = 0; n < 20; ++n) CHECK(client.ask(post("/orders/2", "x", key(n))).status() == 200);
  CHECK(Clock::now() - began < Milliseconds(20 * 100 / 2));
  CHECK(client.ask(get("/live")).status() == 200);
  const Message asked = client.ask(get(first.field("Location").value_or("")));
  check_refusal(asked, 503, "P1", "STORE_UNAVAILABLE");
  const bool is_told_early = early.has_bytes(Milliseconds{0});
  if (is_told_early)
    check_refusal(early.read_response(), 503, "P2", "STORE_UNAVAILABLE");  // no 202 without commit

  postgres.thaw();
  if (!is_told_early) CHECK(early.read_response().status() == 202);
  REQUIRE(proxy.metric_becomes(kAvailable, 1));
  CHECK(client.ask(post("/export/4", "x")).status() == 202);
  CHECK(Operator{proxy.admin_port()}.come_to(is_told_early ? 2 : 3, "state=succeeded"));
}
