// The log has one line for each change of a job's state, whoever makes it.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/proxy_process.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

using Lines = std::vector<std::string>;

// Holds what has "held" in its path until `go`; /export/fails fails once, /export/rejected is
// rejected as long as `rejects`.
struct House {
  ~House() { go.set(); }

  Event go;
  std::atomic<bool> fails{true};
  std::atomic<bool> rejects{true};
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      const std::string target = request->target();
      if (target.find("held") != std::string::npos && !proxy.wait(go)) return;
      std::string answer = ok("done");
      if (target == "/export/fails" && fails.exchange(false))
        answer = "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n";
      if (target == "/export/rejected" && rejects)
        answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
      if (!proxy.send(answer)) return;
    }
  }};
};

// One slot, jobs of /mail one at a time.
json settings_of(const House& house, const std::string& level, const json& store) {
  json all = deferring({{"store", store},
                        {"log", {{"level", level}}},
                        {"dispatch", {{"concurrency", 1}}},
                        {"jobs", {{"backoff", {{"base_ms", 1}, {"max_ms", 1}}}}}});
  all["routes"][1]["defer"]["concurrency"] = 1;
  all["routes"][1]["defer"]["ttl_ms"] = 1000;
  return configuration({house.peer.address()}, all);
}

// State and cause, as the lines of each job have them, by the half of its id that the log tells.
std::map<std::string, Lines> lines_of(ProxyProcess& proxy) {
  std::map<std::string, Lines> lines;
  std::istringstream log(proxy.process().err());
  for (std::string text; std::getline(log, text);) {
    const json line = json::parse(text, nullptr, false);
    if (line.is_discarded() || line.value("event", "") != "job") continue;
    CHECK_MESSAGE(line.value("route", "") != "", text);
    CHECK_MESSAGE(line.value("tenant", "") == "127.0.0.1", text);
    CHECK_MESSAGE(line.contains("attempts"), text);
    const std::string cause = line.value("cause", "");
    lines[line.at("id")].push_back(line.at("state").get<std::string>() +
                                   (cause.empty() ? "" : " " + cause));
  }
  return lines;
}

std::string half(const std::string& id) { return id.substr(0, 16); }

// Threads write a job's lines, so one may overtake the other.
Lines sorted(Lines lines) {
  std::ranges::sort(lines);
  return lines;
}

// Stops the proxy, so that all lines are written.
std::map<std::string, Lines> last_lines_of(ProxyProcess& proxy) {
  proxy.process().signal(SIGTERM);
  CHECK(proxy.process().wait() == 0);
  return lines_of(proxy);
}

Message remove(const ProxyProcess& proxy, const std::string& id) {
  return RawClient(proxy.port())
      .ask("DELETE /_spillway/jobs/" + id + " HTTP/1.1\r\nHost: a\r\n\r\n");
}

// Plays a job through each change but those of a proxy that ends. Their ids by what happens.
std::map<std::string, std::string> play(ProxyProcess& proxy, House& house) {
  const Operator desk{proxy.admin_port()};
  std::map<std::string, std::string> ids;
  ids["retried"] = defer(proxy.port(), "/export/fails");
  REQUIRE(desk.come_to(1, "state=succeeded"));
  ids["replayed"] = defer(proxy.port(), "/export/rejected");
  REQUIRE(desk.come_to(1, "state=dead"));
  REQUIRE(proxy.process().wait_for_output("\"state\":\"dead\""));
  house.rejects = false;
  desk.post("/jobs/replay", {{"id", ids["replayed"]}, {"dry_run", false}});
  REQUIRE(desk.come_to(2, "state=succeeded"));

  // It has the slot, and is the one of its route.
  ids["held"] = defer(proxy.port(), "/mail/held");
  REQUIRE(house.peer.wait_until([](const auto& seen) { return seen.requests == 5; }));
  ids["expired"] = defer(proxy.port(), "/mail/2");
  ids["cancelled"] = defer(proxy.port(), "/mail/3");
  ids["cancelled_by_operator"] = defer(proxy.port(), "/mail/4");
  CHECK(remove(proxy, ids["cancelled"]).status() == 200);
  desk.post("/jobs/" + ids["cancelled_by_operator"] + "/cancel");
  ids["withdrawn"] = defer(proxy.port(), "/export/3");
  ids["withdrawn_by_operator"] = defer(proxy.port(), "/export/4");
  REQUIRE(desk.come_to(3, "state=leased"));
  CHECK(remove(proxy, ids["withdrawn"]).status() == 200);
  desk.post("/jobs/" + ids["withdrawn_by_operator"] + "/cancel");
  REQUIRE(desk.come_to(1, "state=expired"));
  house.go.set();
  REQUIRE(desk.come_to(3, "state=succeeded"));
  return ids;
}

}  // namespace

TEST_CASE("each change of a job's state is one line of the log") {
  House house;
  ProxyProcess proxy(settings_of(house, "debug", {{"url", "memory:"}}));
  auto ids = play(proxy, house);
  auto lines = last_lines_of(proxy);
  const std::map<std::string, Lines> expected{
      {"retried", {"queued", "leased", "retrying failed", "leased", "succeeded answered"}},
      {"replayed", {"queued", "leased", "dead rejected", "queued", "leased", "succeeded answered"}},
      {"held", {"queued", "leased", "succeeded answered"}},
      {"expired", {"queued", "expired out_of_time"}},
      {"cancelled", {"queued", "cancelled cancelled_by_client"}},
      {"cancelled_by_operator", {"queued", "cancelled cancelled_by_operator"}},
      {"withdrawn", {"queued", "leased", "cancelled cancelled_by_client"}},
      {"withdrawn_by_operator", {"queued", "leased", "cancelled cancelled_by_operator"}}};
  for (const auto& [what, its] : expected) {
    CAPTURE(what);
    CHECK(sorted(lines[half(ids[what])]) == sorted(its));
  }
  CHECK(lines.size() == expected.size());
}

TEST_CASE("the control: at info only those that are tried again, dead or expired have lines") {
  House house;
  ProxyProcess proxy(settings_of(house, "info", {{"url", "memory:"}}));
  auto ids = play(proxy, house);
  auto lines = last_lines_of(proxy);
  CHECK(lines[half(ids["retried"])] == Lines{"retrying failed"});
  CHECK(lines[half(ids["replayed"])] == Lines{"dead rejected"});
  CHECK(lines[half(ids["expired"])] == Lines{"expired out_of_time"});
  CHECK(lines.size() == 3);
}

TEST_CASE("so is the recovery of a job whose proxy was killed") {
  const TemporaryDirectory directory;
  const json store{{"url", "sqlite:" + (directory.path() / "jobs.db").string()}};
  House house;
  std::string killed;
  {
    ProxyProcess proxy(settings_of(house, "debug", store));
    const Operator desk{proxy.admin_port()};
    killed = defer(proxy.port(), "/export/held");
    REQUIRE(house.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
    for (const char* state : {"queued", "leased"}) {
      REQUIRE(proxy.process().wait_for_output("\"id\":\"" + half(killed) +
                                              "\",\"route\":\"export\","
                                              "\"tenant\":\"127.0.0.1\",\"state\":\"" +
                                              state + "\""));
    }
    proxy.process().signal(SIGKILL);
    proxy.process().wait();
    CHECK(sorted(lines_of(proxy)[half(killed)]) == sorted({"queued", "leased"}));
  }
  ProxyProcess proxy(settings_of(house, "debug", store));
  const Operator desk{proxy.admin_port()};
  REQUIRE(house.peer.wait_until([](const auto& seen) { return seen.requests == 2; }));
  house.go.set();
  REQUIRE(desk.come_to(1, "state=succeeded"));
  auto lines = last_lines_of(proxy);
  CHECK(lines[half(killed)] == Lines{"retrying proxy_ended", "leased", "succeeded answered"});
}

TEST_CASE("so is each job that is in hand at the end of a drain, sent or not") {
  for (const bool may_repeat : {false, true}) {
    House house;
    json settings = settings_of(house, "debug", {{"url", "memory:"}});
    settings["limits"]["drain_timeout_ms"] = 300;
    for (json& route : settings["routes"])
      if (route.contains("defer")) route["defer"]["retry_unanswered"] = may_repeat;
    ProxyProcess proxy(settings);
    const Operator desk{proxy.admin_port()};
    const std::string sent = defer(proxy.port(), "/export/held");
    REQUIRE(house.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
    const std::string unsent = defer(proxy.port(), "/export/1");  // for want of a slot
    REQUIRE(desk.come_to(2, "state=leased"));
    auto lines = last_lines_of(proxy);
    const std::string end = may_repeat ? "retrying proxy_ended" : "dead unanswered";
    CHECK(sorted(lines[half(sent)]) == sorted({"queued", "leased", end}));
    CHECK(sorted(lines[half(unsent)]) == sorted({"queued", "leased", "queued"}));
    CHECK(lines.size() == 2);
  }
}

TEST_CASE("control: a job that ends within the drain is not given back") {
  House house;
  ProxyProcess proxy(settings_of(house, "debug", {{"url", "memory:"}}));
  const std::string sent = defer(proxy.port(), "/export/held");
  REQUIRE(house.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  proxy.process().signal(SIGTERM);
  house.go.set();
  CHECK(proxy.process().wait() == 0);
  CHECK(sorted(lines_of(proxy)[half(sent)]) == sorted({"queued", "leased", "succeeded answered"}));
}
