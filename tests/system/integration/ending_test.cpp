// How the built binary ends: by which signals, and what it says of what it cuts off.
#include <doctest/doctest.h>

#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "support/child_process.hpp"
#include "support/counting_backend.hpp"
#include "support/held_peer.hpp"
#include "support/places.hpp"
#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "support/temporary_directory.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

// Another server's port, as soon as it is free; null if it never is.
std::unique_ptr<RefusingPort> taken(std::uint16_t port) {
  for (const Deadline deadline; !deadline.passed();) {
    try {
      return std::make_unique<RefusingPort>(port);
    } catch (const std::system_error&) {
    }
  }
  return nullptr;
}

// The lines of the access log.
std::vector<json> access_lines(const std::string& log) {
  std::vector<json> lines;
  std::istringstream all(log);
  for (std::string line; std::getline(all, line);)
    if (const json one = json::parse(line); one["event"] == "access") lines.push_back(one);
  return lines;
}

}  // namespace

TEST_CASE("SIGQUIT drains as SIGTERM does") {
  DrainingProxy proxy(SIGQUIT);
  SUBCASE("what runs is finished") { proxy.answer(); }
  SUBCASE("a second one ends at once") { proxy.process().signal(SIGQUIT); }
  CHECK(proxy.process().wait(5s) == 0);  // the drain would take 30 s
}

// With NGINX and HAProxy they open the log again, replace the program, or drain.
TEST_CASE("SIGUSR1 and SIGUSR2 end nothing and are answered in the log") {
  CountingBackend backend({});
  ProxyProcess proxy(configuration({backend.address()}));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/")).status() == 200);
  proxy.process().signal(SIGUSR1);
  CHECK(proxy.process().wait_for_output("SIGUSR1 does nothing"));
  proxy.process().signal(SIGUSR2);
  CHECK(proxy.process().wait_for_output("SIGUSR2 does nothing"));
  const Message answer = client.ask(get("/"));
  CHECK(answer.status() == 200);
  CHECK_FALSE(answer.field("Connection"));  // it does not drain
  client.close();
  proxy.process().signal(SIGTERM);
  CHECK(proxy.process().wait() == 0);
}

TEST_CASE("requests that the end of the process cuts off are in the access log") {
  HeldPeer held;
  ProxyProcess proxy(configuration({held.peer.address()}, {{"limits", {{"drain_timeout_ms", 300}}},
                                                           {"log", {{"access_sample", 1}}}}));
  const RawClient first = held.asking(proxy), second = held.asking(proxy);
  SUBCASE("as its drain takes too long") {
    proxy.process().signal(SIGTERM);
    CHECK(proxy.process().wait() == 0);
    CHECK(proxy.process().wait_for_output(
        "drain timeout after 300 ms: closed 2 requests and 0 tunnels"));
  }
  SUBCASE("as it ends at once") {
    proxy.process().signal(SIGINT);
    CHECK(proxy.process().wait() == 0);
    CHECK(proxy.process().wait_for_output("ended at once: closed 2 requests and 0 tunnels"));
  }
  const std::vector<json> lines = access_lines(proxy.process().err());
  REQUIRE(lines.size() == 2);
  for (const json& line : lines) {
    CHECK(line["path"] == "/slow");
    CHECK(line["outcome"] == "error");
    CHECK(line["reason"] == "DRAINING");
    CHECK(line["status"] == 0);
    CHECK(line["attempts"] == 1);
  }
}

TEST_CASE("a response that is cut off is logged with the bytes that were sent of it") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (proxy.read_request() && proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!"))
      proxy.wait(Event());
  });
  ProxyProcess proxy(configuration({peer.address()}, {{"limits", {{"drain_timeout_ms", 100}}},
                                                      {"log", {{"access_sample", 1}}}}));
  RawClient client(proxy.port());
  client.send(get("/"));
  CHECK(client.read_head().status() == 200);
  CHECK(client.read_bytes(5) == "five!");
  proxy.process().signal(SIGTERM);
  CHECK(proxy.process().wait() == 0);
  const std::vector<json> lines = access_lines(proxy.process().err());
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["status"] == 200);
  CHECK(lines[0]["bytes"] == 5);
  CHECK(lines[0]["reason"] == "DRAINING");
}

TEST_CASE("a process that starts while another one drains serves, and then has its admin port") {
  DrainingProxy former;
  CountingBackend backend({});
  const std::uint16_t admin_port = former.admin_port();
  const TemporaryDirectory directory;
  const auto file = directory.write(
      "spillway.json", configuration({backend.address()},
                                     {{"listen", {{"port", 0}}}, {"admin", {{"port", admin_port}}}})
                           .dump());
  ChildProcess next({in_build("spillway"), "run", "--config", file.string()});
  REQUIRE(next.wait_for_output("a Spillway that drains has the admin port"));
  REQUIRE(next.wait_for_output(R"("listener":"proxy")"));
  REQUIRE(next.wait_for_output("\n"));
  const std::string log = next.err();
  const std::size_t line = log.find(R"("listener":"proxy")");
  const auto port =
      static_cast<std::uint16_t>(std::stoi(log.substr(log.find(R"("port":)", line) + 7)));
  CHECK(RawClient(port).ask(get("/")).status() == 200);
  CHECK(log.find(R"("listener":"admin")") == std::string::npos);

  former.answer();
  CHECK(former.process().wait() == 0);
  CHECK(next.wait_for_output(R"("listener":"admin")"));
  CHECK(RawClient(admin_port).ask("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n").status() ==
        200);
  next.signal(SIGTERM);
  CHECK(next.wait() == 0);
}

TEST_CASE("a process that waits for its admin port has it in the delay of its drain, too") {
  DrainingProxy former;
  const std::uint16_t admin_port = former.admin_port();
  const TemporaryDirectory directory;
  const json settings =
      configuration({"127.0.0.1:1"}, {{"listen", {{"port", 0}}},
                                      {"admin", {{"port", admin_port}}},
                                      {"limits", {{"drain_delay_ms", 3'600'000}}}});
  ChildProcess next({in_build("spillway"), "run", "--config",
                     directory.write("spillway.json", settings.dump()).string()});
  REQUIRE(next.wait_for_output("a Spillway that drains has the admin port"));
  REQUIRE(next.wait_for_output(R"("listener":"proxy")"));
  next.signal(SIGTERM);
  REQUIRE(next.wait_for_output(R"("event":"drain_delay")"));
  former.answer();
  CHECK(former.process().wait() == 0);
  CHECK(next.wait_for_output(R"("listener":"admin")"));
  const Message ready =
      RawClient(admin_port).ask("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(ready.status() == 503);
  CHECK(ready.body.find("\"draining\"") != std::string::npos);
  next.signal(SIGTERM);
  CHECK(next.wait() == 0);
}

TEST_CASE("a process whose admin port another server takes meanwhile says so and serves on") {
  DrainingProxy former;
  const std::uint16_t admin_port = former.admin_port();
  const TemporaryDirectory directory;
  const json settings = configuration(
      {"127.0.0.1:1"}, {{"listen", {{"port", 0}}}, {"admin", {{"port", admin_port}}}});
  ChildProcess next({in_build("spillway"), "run", "--config",
                     directory.write("spillway.json", settings.dump()).string()});
  REQUIRE(next.wait_for_output(R"("listener":"proxy")"));
  former.answer();
  auto other = taken(admin_port);  // mostly sooner than the next attempt
  CHECK(former.process().wait() == 0);
  if (other) {
    CHECK(next.wait_for_output("cannot listen for the admin"));
    other.reset();
    CHECK(next.wait_for_output(R"("listener":"admin")"));
  }
  next.signal(SIGTERM);
  CHECK(next.wait() == 0);
}

}  // namespace spillway
