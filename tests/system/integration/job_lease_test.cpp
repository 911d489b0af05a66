// A proxy that stands still for longer than its lease while it has a job in hand. What another
// proxy on the store makes of that is in tests/system/fleet.
#include <doctest/doctest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "support/proxy_process.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/workshop.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

TEST_CASE(
    "a proxy that is alone on its store and stood still past its lease goes on with its job") {
  constexpr Milliseconds kLease{1000};
  const TemporaryDirectory directory;
  Workshop backend;
  ProxyProcess proxy(
      configuration({backend.peer.address()},
                    deferring({{"store",
                                {{"url", "sqlite:" + (directory.path() / "jobs.db").string()},
                                 {"lease_ms", kLease.count()}}},
                               {"log", {{"level", "error"}}}})));
  const Operator desk{proxy.admin_port()};
  const std::string job = defer(proxy.port(), "/export/1");
  REQUIRE(backend.is_asked(1));
  proxy.process().signal(SIGSTOP);
  Event().wait(kLease + kLease / 2);
  proxy.process().signal(SIGCONT);
  // From now on its workers have looked at the lease, and its thread with the store has renewed it.
  defer(proxy.port(), "/mail/1");
  REQUIRE(backend.is_asked(2));
  backend.go.set();
  CHECK(desk.come_to(2, "state=succeeded"));
  CHECK(desk.get("/jobs/" + job).at("recoveries") == 0);
  CHECK(backend.peer.seen().requests == 2);
}
