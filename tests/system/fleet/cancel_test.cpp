// A client or an operator cancels a job at another proxy than the one that has it in hand.
#include <doctest/doctest.h>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/fleet/fleet.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/stopwatch.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kCancelled = R"("event":"jobs_cancelled","client":"127.0.0.1","count":)";

json with_log(json settings) {
  settings["log"] = {{"level", "info"}};
  return settings;
}

// The one that has joined first has all of the cap.
struct Shops {
  Message cancel(const std::string& location) const {
    return RawClient(other.proxy.port())
        .ask("DELETE " + location + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }

  Postgres postgres;
  const std::string url = postgres.create_database();
  Member holder{"holder", 0, with_one_slot(url, 1)};
  bool has_share = comes_to_share(url, "1");
  Member other{"other", 0, with_log(with_one_slot(url, 1))};
  Operator desk{other.proxy.admin_port()};
};

}  // namespace

TEST_CASE("a job that waits for a slot is cancelled at whichever proxy its client asks") {
  Shops shops;
  REQUIRE(shops.has_share);
  RawClient live(shops.holder.proxy.port());
  live.send(get("/live"));
  REQUIRE(shops.holder.backend.comes_to_hold(1));
  const std::string location = shops.holder.order();
  REQUIRE(shops.holder.metric_becomes("spillway_jobs_in_hand", 1));
  REQUIRE(shops.other.state_of(location) == "leased");
  SUBCASE("by its client") {
    const Message answer = shops.cancel(location);
    CAPTURE(answer.body);
    CHECK(answer.status() == 200);
  }
  SUBCASE("by an operator, and the log says so") {
    const std::string id = id_of(location);
    Message answer;
    for (const Deadline deadline; answer.body.find("cancelled") == std::string::npos;) {
      REQUIRE(!deadline.passed());
      const Stopwatch stopwatch;
      answer = shops.desk.ask("POST", "/jobs/" + id + "/cancel", "{}");
      // A slow machine may take longer than one waits.
      CHECK((answer.status() == 200 || stopwatch.elapsed() >= 800ms));
    }
    ChildProcess& process = shops.other.proxy.process();
    CHECK(process.wait_for_output(kCancelled + R"(1,"filter":{"id":")" + id.substr(0, 16) + "\"}"));
  }
  CHECK(shops.other.state_of(location) == "cancelled");
  CHECK(shops.cancel(location).status() == 200);
  shops.holder.backend.answer_all();
  CHECK(live.read_response().status() == 200);
  CHECK_MESSAGE(shops.holder.backend.came().size() == 1, "the live one");
}

TEST_CASE("a job that was sent is not cancelled, and its client and its operator are told") {
  Shops shops;
  REQUIRE(shops.has_share);
  const std::string location = shops.holder.order();
  REQUIRE(shops.holder.backend.comes_to_hold(1));
  SUBCASE("its client") {
    const Message answer = shops.cancel(location);
    CAPTURE(answer.body);
    CHECK(answer.status() == 409);
    CHECK(answer.body.find("Another proxy") != std::string::npos);
  }
  SUBCASE("its operator") {
    const Message answer = shops.desk.ask("POST", "/jobs/" + id_of(location) + "/cancel", "{}");
    CAPTURE(answer.body);
    CHECK(answer.status() == 409);
    CHECK(answer.body.find("another proxy") != std::string::npos);
    CHECK(shops.other.proxy.process().wait_for_output(kCancelled + "0"));
  }
  shops.holder.backend.answer_all();
  for (const Deadline deadline;
       shops.other.state_of(location) != "succeeded" && !deadline.passed();) {
  }
  CHECK(shops.other.state_of(location) == "succeeded");
  CHECK(shops.cancel(location).status() == 409);
}
