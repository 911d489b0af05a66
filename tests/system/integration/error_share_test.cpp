// Errors refuse a share that grows, the lowest class first.
#include <doctest/doctest.h>

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
  RawClient client(proxy.port());
  const Deadline deadline;
  while (!state_is(proxy.state(), "OVERLOADED")) {
    REQUIRE(!deadline.passed());
    CHECK(client.ask(get("/fail")).status() == 500);
  }
  // Not at once: the share is small at first.
  CHECK(client.ask(get("/p1")).status() == 200);
  int refused = 0;
  for (int n = 0; refused < 5; ++n) {
    REQUIRE(!deadline.passed());
    refused += client.ask(get("/p2")).status() == 503 ? 1 : 0;
    if (n % 2 == 0) client.ask(get("/fail"));  // the errors go on
  }
  CHECK(proxy.metric(R"(spillway_denied_total{class="P2",reason="ERROR_BURST"})") >= 5);
  CHECK(proxy.metric(R"(spillway_denied_total{class="P0",reason="ERROR_BURST"})") == 0);
}

}  // namespace spillway
