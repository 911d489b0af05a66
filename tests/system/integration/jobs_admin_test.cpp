// What the operator does with deferred requests, on a proxy that runs.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/proxy_process.hpp"
#include "system/integration/jobs_operator.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

TEST_CASE("the operator finds dead letters by route, cause and time, page by page") {
  RejectingBackend backend;
  ProxyUnderTest proxy(backend.peer.address(), deferring());
  const Operator desk{proxy.admin_port()};
  const std::string first = defer(proxy.port(), "/export/1");
  CHECK(desk.come_to(1, "state=dead"));
  for (int n = 2; n <= 4; ++n) defer(proxy.port(), "/export/" + std::to_string(n));
  defer(proxy.port(), "/mail/5");
  REQUIRE(desk.come_to(5, "state=dead&cause=rejected"));
  CHECK(desk.get("/jobs?route=mail").at("jobs").size() == 1);
  CHECK(desk.get("/jobs?cause=unanswered").at("jobs").empty());
  CHECK(desk.get("/jobs?accepted_from=2100-01-01T00:00:00Z").at("jobs").empty());
  CHECK(desk.get("/jobs?ended_before=2100-01-01T00:00:00Z").at("jobs").size() == 5);
  std::vector<std::string> seen;
  json next = "";
  while (next.is_string()) {
    const std::string after = next == "" ? "" : "&after=" + next.get<std::string>();
    const json page = desk.get("/jobs?limit=2&route=export" + after);
    CHECK(page.at("jobs").size() <= 2);
    for (const json& job : page.at("jobs")) seen.push_back(job.at("target"));
    next = page.at("next");
  }
  CHECK(seen == std::vector<std::string>{"/export/1", "/export/2", "/export/3", "/export/4"});
  CHECK(desk.get("/jobs/" + first).at("id") == first);
}

TEST_CASE("an inspected job has its request without secrets, and every attempt") {
  RejectingBackend backend;
  ProxyUnderTest proxy(backend.peer.address(), deferring());
  const Operator desk{proxy.admin_port()};
  const std::string id = defer(proxy.port(), "/export/1", "{\"a\":1}",
                               "Authorization: Bearer hush\r\nCookie: hush\r\nX-Kept: yes\r\n");
  REQUIRE(desk.come_to(1, "state=dead"));
  const json job = desk.get("/jobs/" + id);
  CHECK(job.at("body") == json{{"encoding", "utf-8"}, {"text", "{\"a\":1}"}, {"is_cut", false}});
  const std::string head = job.at("head");
  CHECK(head.find("hush") == std::string::npos);
  CHECK(head.find("Authorization: <redacted>\r\n") != std::string::npos);
  CHECK(head.find("X-Kept: yes\r\n") != std::string::npos);
  REQUIRE(job.at("history").size() == 1);
  CHECK(job.at("history").at(0).at("status") == 404);
  CHECK(job.at("history").at(0).at("cause") == "rejected");
}

TEST_CASE("a replay shows what it would do, then does it under the same ids") {
  RejectingBackend backend;
  ProxyUnderTest proxy(backend.peer.address(), deferring());
  const Operator desk{proxy.admin_port()};
  const std::string id = defer(proxy.port(), "/export/1");
  defer(proxy.port(), "/mail/2");
  REQUIRE(desk.come_to(2, "state=dead"));
  backend.accepts = true;
  const json dry = desk.post("/jobs/replay", {{"route", "export"}});
  CHECK(dry == json{{"dry_run", true}, {"count", 1}, {"jobs", {id}}});
  CHECK(desk.get("/jobs?state=dead").at("jobs").size() == 2);
  const json real =
      desk.post("/jobs/replay", {{"route", "export"}, {"dry_run", false}, {"limit", 10}});
  CHECK(real == json{{"dry_run", false}, {"count", 1}, {"jobs", {id}}});
  REQUIRE(desk.come_to(1, "state=succeeded"));
  const json job = desk.get("/jobs/" + id);
  CHECK(job.at("state") == "succeeded");
  CHECK(job.at("attempts") == 1);        // counted anew
  CHECK(job.at("history").size() == 2);  // and remembered
  CHECK(desk.get("/jobs?state=dead").at("jobs").size() == 1);
}

TEST_CASE("a purge deletes ended jobs and a cancel ends one that waits") {
  RejectingBackend backend;
  ProxyUnderTest proxy(backend.peer.address(), deferring());
  const Operator desk{proxy.admin_port()};
  const std::string id = defer(proxy.port(), "/export/1");
  REQUIRE(desk.come_to(1, "state=dead"));
  CHECK(desk.post("/jobs/purge").at("count") == 1);
  CHECK(desk.get("/jobs").at("jobs").size() == 1);
  CHECK(desk.ask("POST", "/jobs/" + id + "/cancel").status() == 409);
  // One that is due in an hour waits.
  defer(proxy.port(), "/export/2");
  REQUIRE(desk.come_to(2, "state=dead"));
  const json ids =
      desk.post("/jobs/replay", {{"dry_run", false}, {"limit", 2}, {"per_second", 0.001}});
  REQUIRE(ids.at("count") == 2);
  const std::string waiting = ids.at("jobs").at(1);
  CHECK(desk.post("/jobs/" + waiting + "/cancel").at("state") == "cancelled");
  CHECK(desk.get("/jobs/" + waiting).at("cause") == "cancelled_by_operator");
  CHECK(desk.post("/jobs/purge", {{"dry_run", false}, {"id", waiting}}).at("count") == 1);
  CHECK(desk.ask("GET", "/jobs/" + waiting).status() == 404);
}

TEST_CASE("the pages of deferred requests ask for the token and refuse bad input") {
  RejectingBackend backend;
  ProxyUnderTest proxy(backend.peer.address(), deferring({{"admin", {{"token", "hush-hush"}}}}));
  const Operator stranger{proxy.admin_port()};
  const Operator desk{proxy.admin_port(), "Authorization: Bearer hush-hush\r\n"};
  const std::string id = defer(proxy.port(), "/export/1");
  REQUIRE(desk.come_to(1, "state=dead"));
  for (const std::string path : {"/jobs", "/jobs/replay", "/jobs/purge"}) {
    CHECK(stranger.ask("GET", path).status() == 401);
    CHECK(stranger.ask("POST", path, R"({"dry_run":false,"limit":9})").status() == 401);
  }
  CHECK(stranger.ask("GET", "/jobs/" + id).status() == 401);
  CHECK(stranger.ask("POST", "/jobs/" + id + "/cancel").status() == 401);
  CHECK(desk.ask("GET", "/jobs?limit=0").status() == 400);
  CHECK(desk.ask("POST", "/jobs/purge", R"({"dry_run":false})").status() == 400);
  CHECK(desk.ask("POST", "/jobs/purge", "{}", "text/plain").status() == 415);
  CHECK(desk.ask("PUT", "/jobs").status() == 405);
  CHECK(desk.get("/jobs").at("jobs").size() == 1);
}

TEST_CASE("a proxy without deferred requests says that it has none") {
  RejectingBackend backend;
  ProxyUnderTest proxy(backend.peer.address());
  const Message answer = Operator{proxy.admin_port()}.ask("GET", "/jobs");
  CHECK(answer.status() == 404);
  CHECK(json::parse(answer.body).at("detail") ==
        "no route has \"defer\": there are no deferred requests");
}

TEST_CASE("every cancel, replay and purge leaves one line in the log, and a dry run none") {
  RejectingBackend backend;
  ProxyProcess proxy(
      configuration({backend.peer.address()}, deferring({{"log", {{"level", "info"}}}})));
  const Operator desk{proxy.admin_port()};
  defer(proxy.port(), "/export/1");
  const std::string id = defer(proxy.port(), "/export/2");
  REQUIRE(desk.come_to(2, "state=dead"));
  desk.post("/jobs/replay");
  desk.post("/jobs/purge");
  const json replayed =
      desk.post("/jobs/replay", {{"dry_run", false}, {"limit", 2}, {"per_second", 0.001}});
  const std::string waiting = replayed.at("jobs").at(1);
  desk.post("/jobs/" + waiting + "/cancel");
  desk.post("/jobs/purge", {{"dry_run", false}, {"limit", 1}, {"state", "cancelled"}});
  REQUIRE(proxy.process().wait_for_output("\"jobs_purged\""));
  REQUIRE(proxy.process().wait_for_output("\"cancelled\"}"));
  const std::string& log = proxy.process().err();
  const auto lines_of = [&](const std::string& event) {
    std::vector<json> lines;
    std::istringstream text(log);
    for (std::string line; std::getline(text, line);)
      if (line.find("\"event\":\"" + event + "\"") != std::string::npos)
        lines.push_back(json::parse(line));
    return lines;
  };
  const auto replays = lines_of("jobs_replayed");
  REQUIRE(replays.size() == 1);
  CHECK(replays[0].at("count") == 2);
  CHECK(replays[0].at("client") == "127.0.0.1");
  const auto cancels = lines_of("jobs_cancelled");
  REQUIRE(cancels.size() == 1);
  CHECK(cancels[0].at("filter") == json{{"id", waiting.substr(0, 16)}});
  const auto purges = lines_of("jobs_purged");
  REQUIRE(purges.size() == 1);
  CHECK(purges[0].at("filter") == json{{"state", "cancelled"}});
}
