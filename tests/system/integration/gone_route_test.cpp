// Jobs of routes that are not configured any more: they wait, visible, until theirs is there again.
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/proxy_process.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

json without_defer(const std::string& server, const std::string& url) {
  return configuration({server}, {{"store", {{"url", url}}}, {"workers", 1}});
}

}  // namespace

TEST_CASE(
    "jobs outlast their route, can be read, cancelled and purged, and go on when it is back") {
  const TemporaryDirectory directory;
  const std::string url = "sqlite:" + (directory.path() / "jobs.db").string();
  const json store{{"store", {{"url", url}}}};
  std::string first, second;
  {
    const RefusingPort refusing;
    ProxyUnderTest proxy(refusing.address(), deferring(store));
    first = defer(proxy.port(), "/export/1");
    second = defer(proxy.port(), "/export/2");
    // Negative control: while the route is there they are not paused.
    const json listed = Operator{proxy.admin_port()}.get("/jobs?route=export").at("jobs");
    REQUIRE(listed.size() == 2);
    for (const json& job : listed) CHECK_FALSE(job.contains("paused"));
  }
  RejectingBackend backend;
  backend.accepts = true;
  ProxyUnderTest proxy(without_defer(backend.peer.address(), url));
  const Operator desk{proxy.admin_port()};
  REQUIRE(desk.come_to(2, "route=export"));
  for (const json& job : desk.get("/jobs").at("jobs")) CHECK(job.at("paused") == true);
  CHECK(desk.get("/jobs/" + first).at("paused") == true);
  RawClient client(proxy.port());
  const auto state_of = [&](const std::string& id) {
    const Message answer = client.ask(get("/_spillway/jobs/" + id));
    REQUIRE(answer.status() == 200);
    return json::parse(answer.body).at("state").get<std::string>();
  };
  CHECK((state_of(first) == "queued" || state_of(first) == "retrying"));
  CHECK(client.ask("DELETE /_spillway/jobs/" + first + " HTTP/1.1\r\nHost: a\r\n\r\n").status() ==
        200);
  CHECK_FALSE(desk.get("/jobs/" + first).contains("paused"));  // it does not wait any more
  CHECK(desk.post("/jobs/purge", {{"id", first}, {"dry_run", false}}).at("count") == 1);
  CHECK(backend.peer.seen().requests == 0);

  REQUIRE(proxy.reload(configuration({backend.peer.address()}, deferring(store))).status() == 200);
  REQUIRE(desk.come_to(1, "state=succeeded"));
  CHECK(state_of(second) == "succeeded");
}

TEST_CASE("without a route that defers a store is opened only if it is named and there") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "jobs.db";
  RejectingBackend backend;
  for (const std::string& url : {"sqlite:" + file.string(), std::string("memory:")}) {
    CAPTURE(url);
    ProxyUnderTest proxy(without_defer(backend.peer.address(), url));
    CHECK(Operator{proxy.admin_port()}.ask("GET", "/jobs").status() == 404);
    CHECK(proxy.metrics().find("spillway_jobs") == std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE(
    "a store of another process is left alone where nothing needs it, and named where it is") {
  const TemporaryDirectory directory;
  const std::vector<std::string> under{"env", "STATE_DIRECTORY=" + directory.path().string()};
  RejectingBackend backend;
  json deferring_settings = deferring();
  deferring_settings.erase("store");
  const json defers = configuration({backend.peer.address()}, deferring_settings);
  const ProxyProcess owner(defers, under);
  REQUIRE(Operator{owner.admin_port()}.ask("GET", "/jobs").status() == 200);

  // Without `defer` it starts beside it.
  ProxyProcess other(configuration({backend.peer.address()}), under);
  CHECK(Operator{other.admin_port()}.ask("GET", "/jobs").status() == 404);
  other.process().signal(SIGTERM);
  CHECK(other.process().wait() == 0);
  const std::string log = other.process().out() + other.process().err();
  CAPTURE(log);
  CHECK(log.find("spillway.db is in use by another process and is left alone") != log.npos);

  std::string why;
  try {
    const ProxyProcess refused(defers, under);
  } catch (const std::runtime_error& error) {
    why = error.what();
  }
  CAPTURE(why);
  CHECK(why.find("$.routes[0].defer: ") != why.npos);
  CHECK(why.find("end that one, or give this one a file of its own in store.url") != why.npos);
}

TEST_CASE("jobs in the usual file are shown though nothing names it, and no other file is opened") {
  const TemporaryDirectory directory;
  const std::vector<std::string> under{"env", "STATE_DIRECTORY=" + directory.path().string()};
  RejectingBackend backend;
  const json nothing = configuration({backend.peer.address()});
  // The control: an empty file, and one of another program.
  for (const std::string& text :
       {std::string(), std::string("SQLite format 3") + std::string(99, 'x')}) {
    directory.write("spillway.db", text);
    const ProxyProcess proxy(nothing, under);
    CHECK(Operator{proxy.admin_port()}.ask("GET", "/jobs").status() == 404);
    CHECK(std::filesystem::file_size(directory.path() / "spillway.db") == text.size());
  }
  std::filesystem::remove(directory.path() / "spillway.db");
  std::string id;
  {
    const RefusingPort refusing;
    json settings = deferring();
    settings.erase("store");
    ProxyProcess proxy(configuration({refusing.address()}, settings), under);
    id = defer(proxy.port(), "/export/1");
    proxy.process().signal(SIGTERM);
    REQUIRE(proxy.process().wait() == 0);
  }
  const ProxyProcess proxy(nothing, under);
  const Operator desk{proxy.admin_port()};
  CHECK(desk.get("/jobs/" + id).at("paused") == true);
  json routes;
  for (const Deadline deadline; routes.empty() && !deadline.passed();)
    routes = desk.get("/state").at("jobs").at("routes");  // they are counted once a second
  REQUIRE(routes.size() == 1);
  CHECK(routes[0].at("paused") == true);
  CHECK(routes[0].at("oldest_claimable_ms") == 0);
}
