// Errors refuse a share that grows, the lowest class first.
#include <doctest/doctest.h>

#include <vector>

#include "support/raw_client.hpp"
#include "system/integration/overloaded.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

}  // namespace

TEST_CASE("errors refuse the lowest class little by little, and the one above it not meanwhile") {
  Backend backend;
  const json denies = {{"strategy", "deny"}, {"probability", 1}};
  const ProxyUnderTest proxy(overloadable(
      backend.peer.address(),
      {{"overload", {{"regulate", true}, {"rules", {{"P1", denies}, {"P2", denies}}}}}}));
  // At work all the time: for errors of an upstream that is idle nothing is refused.
  std::vector<RawClient> held;
  for (int n = 0; n < 8; ++n) held.emplace_back(proxy.port()).send(get("/p0/held"));
  REQUIRE(backend.holds(8));
  RawClient client(proxy.port());
  const Deadline deadline;
  while (!state_is(proxy.state(), "OVERLOADED")) {
    REQUIRE(!deadline.passed());
    CHECK(client.ask(failing("/p0")).status() == 500);
  }
  // Not at once: the share is small at first.
  CHECK(client.ask(get("/p1")).status() == 200);
  int refused = 0;
  for (int n = 0; refused < 5; ++n) {
    REQUIRE(!deadline.passed());
    refused += client.ask(get("/p2")).status() == 503 ? 1 : 0;
    if (n % 2 == 0) continue;
    for (const char* target : {"/p0", "/p2"}) client.ask(failing(target));  // the errors go on
  }
  backend.go.set();
  for (RawClient& each : held) CHECK(each.read_response().status() == 200);
  CHECK(proxy.metric(R"(spillway_denied_total{class="P2",reason="ERROR_BURST"})") >= 5);
  CHECK(proxy.metric(R"(spillway_denied_total{class="P0",reason="ERROR_BURST"})") == 0);
}

}  // namespace spillway
