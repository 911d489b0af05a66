// A store that goes away while clients wait for a job.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/postgres.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/workshop.hpp"

using namespace spillway;
using namespace spillway::support;

TEST_CASE("events of a job, and a client that waits for it, outlast a store that is away") {
  Postgres postgres;
  Workshop shop;
  ProxyUnderTest proxy(shop.peer.address(),
                       deferring({{"store", {{"url", postgres.create_database()}}}}));
  RawClient waiting(proxy.port()), following(proxy.port());
  waiting.send(post("/export/1", "x", "Idempotency-Key: order-7\r\nPrefer: wait=60\r\n"));
  REQUIRE(shop.is_asked(1));
  const Message told =
      RawClient(proxy.port()).ask(post("/export/1", "x", "Idempotency-Key: order-7\r\n"));
  const std::string location(told.field("Location").value_or(""));
  following.send(get(location + "/events"));
  following.read_head();
  std::string events;
  const auto reads = [&](std::string_view wanted) {
    while (events.find(wanted) == std::string::npos) events += following.read_bytes(1);
  };
  reads("event: leased\n");

  postgres.stop();
  REQUIRE(proxy.metric_becomes("spillway_store_available", 0));
  CHECK_FALSE(waiting.has_bytes(Milliseconds{0}));
  postgres.start();
  REQUIRE(proxy.metric_becomes("spillway_store_available", 1));
  shop.go.set();
  reads("event: succeeded\n");
  const Message answer = waiting.read_response();
  CHECK(answer.status() == 200);
  CHECK(answer.body == "done");
  CHECK(answer.field("Preference-Applied") == "wait=60");
}
