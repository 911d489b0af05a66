// A job whose proxy has no slot for it, beside a proxy that has.
#include <doctest/doctest.h>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/fleet/fleet.hpp"

using namespace spillway;
using namespace spillway::support;

TEST_CASE("a job for which its proxy gets no slot is done by one that has a slot, uncounted") {
  Postgres postgres;
  const std::string url = postgres.create_database();
  Member busy("busy", 0, with_one_slot(url, 4)), idle("idle", 0, with_one_slot(url, 4));
  RawClient live(busy.proxy.port());
  live.send(get("/live"));
  REQUIRE(busy.backend.comes_to_hold(1));
  const std::string location = busy.order();
  REQUIRE(location != "");
  REQUIRE(idle.backend.comes_to_hold(1));
  CHECK(idle.state_of(location) == "leased");
  idle.backend.answer_all();
  for (const Deadline deadline; idle.state_of(location) != "succeeded" && !deadline.passed();) {
  }
  CHECK(idle.answer_of(location) == "idle");
  CHECK(busy.backend.came().size() == 1);
  CHECK(Postgres::ask(url, "SELECT attempts || ' ' || recoveries FROM spillway.ended") == "1 0");
  busy.backend.answer_all();
  CHECK(live.read_response().status() == 200);
}
