// What an operator sees of servers that fail, without any access line: counts by kind, and lines
// that say which server, how and why, without filling the log.
#include <doctest/doctest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/mortal_server.hpp"
#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/origin.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

std::string failures(const std::string& server, std::string_view kind) {
  return "spillway_server_failures_total{upstream=\"app\",server=\"" + server + "\",kind=\"" +
         std::string(kind) + "\"}";
}

std::string in_a_row(const std::string& server) {
  return "spillway_server_consecutive_failures{upstream=\"app\",server=\"" + server + "\"}";
}

std::string errors(std::string_view reason) {
  return "spillway_errors_total{class=\"P0\",reason=\"" + std::string(reason) + "\"}";
}

// The sum of a family's samples.
double total(const std::string& page, const std::string& family, std::string_view with = "") {
  double sum = 0;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(family + "{") && line.find(with) != std::string::npos)
      sum += std::stod(line.substr(line.rfind(' ')));
  }
  return sum;
}

// The log, event by event.
class EventReader {
 public:
  explicit EventReader(ProxyProcess& proxy) : proxy_(proxy) {}

  // The next line of this event.
  json next(const std::string& event) {
    const std::string mark = "\"event\":\"" + event + "\"";
    const Deadline deadline;
    for (;;) {
      REQUIRE(!deadline.passed());
      const std::string& log = proxy_.process().err();
      const auto found = log.find(mark, from_);
      const auto end = found == std::string::npos ? found : log.find('\n', found);
      if (end == std::string::npos) {
        proxy_.process().wait_for_output("never said", Milliseconds{10});
        continue;
      }
      from_ = end;
      const auto begin = log.rfind('\n', found) + 1;
      return json::parse(log.substr(begin, end - begin));
    }
  }

 private:
  ProxyProcess& proxy_;
  std::size_t from_ = 0;
};

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t times = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
  return times;
}

json named(const json& line) {
  return {{"level", line.at("level")},
          {"upstream", line.at("upstream")},
          {"server", line.at("server")},
          {"reason", line.at("reason")}};
}

ScriptedPeer::Script says(std::string bytes, bool then_waits = false) {
  return [=](PeerConnection& proxy) {
    if (proxy.read_request() && proxy.send(bytes) && then_waits) proxy.wait_closed();
  };
}

}  // namespace

TEST_CASE("each way of a server to fail has a count of its own and so has what came of it") {
  struct Case {
    std::string kind;
    ScriptedPeer::Script script;
    std::string reason;  // of the request; empty: it was answered
  };
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n";
  const std::vector<Case> cases = {
      {"reset", [](PeerConnection& proxy) { proxy.read_request(); }, "UPSTREAM_UNAVAILABLE"},
      {"response_timeout", says("", true), "UPSTREAM_TIMEOUT"},
      {"body_timeout", says(head + "abc", true), "UPSTREAM_TIMEOUT"},
      {"invalid", says("nonsense\r\n\r\n"), "UPSTREAM_INVALID"},
      {"truncated", says("HTTP/1.1 200 OK\r\nCont"), "UPSTREAM_INVALID"},
      {"truncated", says(head + "abc"), "UPSTREAM_INVALID"},
      {"error_status", says("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), ""},
      {"error_status", says("HTTP/1.1 500 Broken\r\nContent-Length: 200000\r\n\r\nabc"),
       "UPSTREAM_INVALID"},
      {"error_status", says("HTTP/1.1 500 Broken\r\nContent-Length: 200000\r\n\r\nabc", true),
       "UPSTREAM_TIMEOUT"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.kind);
    ScriptedPeer peer(each.script);
    const ProxyUnderTest proxy(
        peer.address(),
        never_shed({{"app", {{"response_timeout_ms", 100}, {"retries", {{"attempts", 0}}}}}}));
    CHECK(proxy.metrics().find(failures(peer.address(), each.kind) + " 0") != std::string::npos);
    RawClient client(proxy.port());
    client.send(get("/", "Connection: close\r\n"));
    client.read_to_end();
    CHECK(proxy.metric_becomes(failures(peer.address(), each.kind), 1));
    CHECK(proxy.metric(in_a_row(peer.address())) == 1);
    if (!each.reason.empty()) CHECK(proxy.metric_becomes(errors(each.reason), 1));
    const std::string page = proxy.metrics();
    CHECK(total(page, "spillway_server_failures_total") == 1);
    CHECK(total(page, "spillway_errors_total") == (each.reason.empty() ? 0 : 1));
    CHECK(total(page, "spillway_denied_total") == 0);
    CHECK(total(page, "spillway_errors_total") ==
          total(page, "spillway_requests_total", "outcome=\"error\""));
  }
}

TEST_CASE("a server that cannot be connected to is counted though another one answers") {
  const RefusingPort down;
  ScriptedPeer up(ok("up"));
  const ProxyUnderTest proxy(configuration({down.address(), up.address()}, never_shed()));
  for (int n = 0; n < 4; ++n) {
    RawClient client(proxy.port());
    CHECK(client.ask(get("/")).body == "up");
  }
  CHECK(proxy.metric(failures(down.address(), "refused")) >= 1);
  CHECK(proxy.metric(in_a_row(down.address())) ==
        proxy.metric(failures(down.address(), "refused")));
  CHECK(proxy.metric(in_a_row(up.address())) == 0);
  CHECK(total(proxy.metrics(), "spillway_errors_total") == 0);
  CHECK(proxy.metric_becomes(R"(spillway_upstream_live{upstream="app"})", 1));
}

TEST_CASE("a single server that fails at everything is up but shows that it fails") {
  MortalServer server;
  const ProxyUnderTest proxy(configuration({server.address()}, never_shed()));
  RawClient client(proxy.port());
  server.answer_with(500);
  for (int n = 0; n < 7; ++n) CHECK(client.ask(get("/")).status() == 500);
  CHECK(proxy.metric("spillway_server_up{upstream=\"app\",server=\"" + server.address() + "\"}") ==
        1);
  CHECK(proxy.metric(in_a_row(server.address())) == 7);
  server.answer_with(200);
  CHECK(client.ask(get("/")).status() == 200);
  CHECK(proxy.metric_becomes(in_a_row(server.address()), 0));
  CHECK(proxy.metric(failures(server.address(), "error_status")) == 7);

  CHECK(proxy.metric_becomes(R"(spillway_upstream_live{upstream="app"})", 1));
  server.die();
  CHECK(client.ask(get("/")).status() == 502);
  CHECK(proxy.metric(R"(spillway_upstream_live{upstream="app"})") == 0);
}

TEST_CASE("answers that are not the upstream's fault are counted by their reason too") {
  ScriptedPeer peer(ok("x"));
  const ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"body_bytes", 10}}}}));
  CHECK(RawClient(proxy.port()).ask("nonsense\r\n\r\n").status() == 400);
  CHECK(RawClient(proxy.port()).ask(post("/", std::string(11, 'x'))).status() == 413);
  CHECK(proxy.metric_becomes(errors("BAD_REQUEST"), 2));
  CHECK(total(proxy.metrics(), "spillway_errors_total") ==
        total(proxy.metrics(), "spillway_requests_total", "outcome=\"error\""));
  CHECK(total(proxy.metrics(), "spillway_server_failures_total") == 0);
}

TEST_CASE("a failing server is in the log at once and does not fill it") {
  ScriptedPeer peer(says("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"));
  ProxyProcess proxy(configuration({peer.address()}, never_shed({{"log", {{"level", "info"}}}})));
  for (int n = 0; n < 20; ++n) {
    RawClient client(proxy.port());
    CHECK(client.ask(get("/")).status() == 502);
  }
  const json line = EventReader(proxy).next("server_failure");
  CHECK(named(line) == json{{"level", "warn"},
                            {"upstream", "app"},
                            {"server", peer.address()},
                            {"reason", "invalid"}});
  CHECK(line["detail"] == "The length of the message is ambiguous or malformed.");
  CHECK(line["left_out"] == 0);
  proxy.process().signal(SIGTERM);
  CHECK(proxy.process().wait() == 0);
  // One in ten seconds: two on a machine that took longer than that.
  CHECK(count(proxy.process().err(), "\"event\":\"server_failure\"") <= 2);
  CHECK(count(proxy.process().err(), "\"event\":\"access\"") == 0);
}

TEST_CASE("what becomes of a server is told as events with its name and why") {
  MortalServer sick, sound;
  const json upstream = {
      {"balance", "round_robin"},
      {"ejection", {{"consecutive_failures", 2}, {"base_ms", 50}, {"max_ms", 50}}},
      {"circuit_breaker", {{"consecutive_failures", 3}, {"open_ms", 20}, {"max_open_ms", 20}}},
      {"health_check",
       {{"path", "/up"},
        {"interval_ms", 100},
        {"timeout_ms", 100},
        {"healthy_after", 1},
        {"unhealthy_after", 1}}}};
  ProxyProcess proxy(
      configuration({sick.address(), sound.address()},
                    never_shed({{"workers", 1}, {"log", {{"level", "info"}}}, {"app", upstream}})));
  EventReader log(proxy);
  RawClient client(proxy.port());
  const auto expected = [&](const char* level, const char* reason) {
    return json{
        {"level", level}, {"upstream", "app"}, {"server", sick.address()}, {"reason", reason}};
  };
  // Asks until the log has it.
  const auto ask_until = [&](const std::string& event) {
    const Deadline deadline;
    while (!proxy.process().wait_for_output("\"" + event + "\"", Milliseconds{1})) {
      REQUIRE(!deadline.passed());
      client.ask(get("/"));
    }
    return named(log.next(event));
  };

  sick.answer_with(500);
  CHECK(ask_until("server_ejected") == expected("warn", "error_status"));
  CHECK(ask_until("circuit_opened") == expected("warn", "error_status"));
  sick.answer_with(200);
  CHECK(ask_until("circuit_closed") == expected("info", "success"));
  sick.answer_checks_with(500);
  CHECK(ask_until("health_check_failed") == expected("warn", "status"));
  sick.answer_checks_with(200);
  CHECK(ask_until("health_check_passed") == expected("info", "success"));
  CHECK(proxy.process().err().find("\"server_returned\"") != std::string::npos);
}

TEST_CASE("the limit of connections in force is shown") {
  ScriptedPeer peer(ok("x"));
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"connections", 77}}}}));
  CHECK(proxy.metric_becomes("spillway_connections_limit", 77));
  CHECK(
      proxy.reload(configuration({peer.address()}, never_shed({{"limits", {{"connections", 33}}}})))
          .status() == 200);
  CHECK(proxy.metric_becomes("spillway_connections_limit", 33));

  ProxyProcess narrow(configuration({peer.address()}, never_shed()),
                      {"prlimit", "--nofile=500:500"});
  RawClient admin(narrow.admin_port());
  const std::string page = admin.ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").body;
  const std::string sample = "\nspillway_connections_limit ";
  const auto found = page.find(sample);
  REQUIRE(found != std::string::npos);
  const double limit = std::stod(page.substr(found + sample.size()));
  CHECK(limit > 0);
  CHECK(limit < 500);
}

}  // namespace spillway::support
