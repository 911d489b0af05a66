// The built binary from start to end: bad starts, signals, draining.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/counting_backend.hpp"
#include "support/held_peer.hpp"
#include "support/places.hpp"
#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;
using TestClock = std::chrono::steady_clock;

const std::string kBinary = support::in_build("spillway");

Finished run_with(const std::string& settings) {
  const TemporaryDirectory directory;
  return run({kBinary, "run", "--config", directory.write("spillway.json", settings).string()});
}

Message admin(const ProxyProcess& proxy, const std::string& path) {
  return RawClient(proxy.admin_port()).ask("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

// Connections to this port come to be refused.
bool becomes_refused(std::uint16_t port) {
  for (const Deadline deadline; !deadline.passed();) {
    try {
      const RawClient accepted(port);
    } catch (const std::system_error&) {
      return true;
    }
  }
  return false;
}

// Asks again as soon as it is answered, until the proxy says that the connection ends.
struct ClosedLoop {
  explicit ClosedLoop(std::uint16_t port) : client(port) {}

  void run(std::atomic<int>& answered) {
    try {
      for (;;) {
        // Closed before the next request was sent: nothing is lost.
        if (client.has_bytes(0ms) || client.is_closed(0ms)) return;
        client.send(get("/"));
        const Message answer = client.read_response();
        if (answer.status() != 200 || answer.body != "done\n") {
          lost = answer.start_line;
          return;
        }
        ++answered;
        if (answer.field("Connection") == "close") {
          closed = client.is_closed();
          return;
        }
      }
    } catch (const std::exception& error) {
      lost = error.what();
    }
  }

  RawClient client;
  bool closed = false;
  std::optional<std::string> lost;
};

}  // namespace

TEST_CASE("every error of a bad configuration is on standard error and nothing starts") {
  const Finished finished = run_with(R"({
    "upstreams": [{"name": "app", "servers": ["nowhere"]}],
    "worker": 2,
    "dispatch": {"concurrency": 0}})");
  CHECK(finished.exit_code == 2);
  CHECK(finished.out == "");
  for (const char* named :
       {"$.upstreams[0].servers[0]", "$.worker", "$.dispatch.concurrency", "3 error(s)"}) {
    CAPTURE(named);
    CHECK(finished.err.find(named) != std::string::npos);
  }
}

TEST_CASE("a port in use fails the start and is named") {
  CountingBackend other({});
  const std::string port = std::to_string(other.port());
  for (const char* listener : {"listen", "admin"}) {
    json settings =
        configuration({"127.0.0.1:1"}, {{"listen", {{"port", 0}}}, {"admin", {{"port", 0}}}});
    settings[listener]["port"] = other.port();
    const Finished finished = run_with(settings.dump());
    CHECK(finished.exit_code == 1);
    CHECK(finished.err.find("127.0.0.1") != std::string::npos);
    CHECK(finished.err.find(port) != std::string::npos);
  }
}

TEST_CASE("an upstream whose name means nothing fails the start") {
  const Finished finished =
      run_with(configuration({"no-such-host.invalid:80"},
                             {{"listen", {{"port", 0}}}, {"admin", {{"port", 0}}}})
                   .dump());
  CHECK(finished.exit_code == 1);
  CHECK(finished.err.find("no-such-host.invalid") != std::string::npos);
}

TEST_CASE("a drain loses no answer and ends with exit code 0") {
  CountingBackend backend({.service = 20ms});
  // Most of the requests wait at the gate as the drain begins.
  const json patient = {{"name", "P0"}, {"sla_ms", 20'000}, {"max_wait_ms", 20'000}};
  ProxyProcess proxy(configuration({backend.address()},
                                   {{"dispatch", {{"concurrency", 4}}},
                                    {"classes", json::array({patient})},
                                    {"overload", {{"rules", {{"P0", {{"strategy", "allow"}}}}}}}}));
  RawClient idle(proxy.port());
  CHECK(idle.ask(get("/")).status() == 200);

  constexpr int kClients = 16;
  std::atomic<int> answered{0};
  std::vector<ClosedLoop> loops;
  for (int n = 0; n < kClients; ++n) loops.emplace_back(proxy.port());
  std::vector<std::thread> threads;
  for (ClosedLoop& loop : loops) threads.emplace_back([&] { loop.run(answered); });
  const Deadline deadline;
  while (answered < 5 * kClients && !deadline.passed()) std::this_thread::yield();
  proxy.process().signal(SIGTERM);
  for (std::thread& thread : threads) thread.join();

  for (const ClosedLoop& loop : loops) {
    CHECK(loop.lost.value_or("nothing") == "nothing");
    CHECK(loop.closed);
  }
  CHECK(idle.is_closed());
  CHECK(proxy.process().wait() == 0);
  CHECK(proxy.process().wait_for_output(R"("event":"draining")"));
  CHECK(proxy.process().wait_for_output(R"("event":"stopped")"));
}

TEST_CASE("while it drains it is alive but not ready and finishes what it has begun") {
  HeldPeer held;
  ProxyProcess proxy(configuration({held.peer.address()}));
  CHECK(admin(proxy, "/readyz").status() == 200);
  RawClient client = held.asking(proxy);
  proxy.process().signal(SIGTERM);
  CHECK(proxy.process().wait_for_output(R"("event":"draining")"));

  const Message ready = admin(proxy, "/readyz");
  CHECK(ready.status() == 503);
  CHECK(ready.body.find("draining") != std::string::npos);
  CHECK(admin(proxy, "/healthz").status() == 200);
  CHECK(json::parse(admin(proxy, "/state").body)["draining"] == true);
  CHECK(becomes_refused(proxy.port()));

  held.go.set();
  const Message answer = client.read_response();
  CHECK(answer.status() == 200);
  CHECK(answer.body == "late");
  CHECK(answer.field("Connection") == "close");
  CHECK(proxy.process().wait() == 0);
}

TEST_CASE("an idle client may send one more request as the drain begins") {
  CountingBackend backend({});
  ProxyProcess proxy(configuration({backend.address()}));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/")).status() == 200);
  proxy.process().signal(SIGTERM);
  CHECK(proxy.process().wait_for_output(R"("event":"draining")"));
  // The workers hear of it one after the other.
  const Deadline deadline;
  Message answer = client.ask(get("/"));
  while (!answer.field("Connection") && !deadline.passed()) answer = client.ask(get("/"));
  CHECK(answer.status() == 200);
  CHECK(answer.field("Connection") == "close");
  CHECK(proxy.process().wait() == 0);
}

TEST_CASE("a drain ends at its timeout whatever is still under way") {
  HeldPeer held;
  ProxyProcess proxy(
      configuration({held.peer.address()}, {{"limits", {{"drain_timeout_ms", 300}}}}));
  RawClient client = held.asking(proxy);
  const auto begin = TestClock::now();
  proxy.process().signal(SIGTERM);
  CHECK(proxy.process().wait() == 0);
  const auto took = TestClock::now() - begin;
  CHECK(took >= 295ms);
  CHECK(took < 3s);
  CHECK(proxy.process().wait_for_output("drain timeout"));
  CHECK(client.is_closed());
}

TEST_CASE("SIGINT or a second SIGTERM ends at once") {
  HeldPeer held;
  ProxyProcess proxy(configuration({held.peer.address()}));
  const RawClient client = held.asking(proxy);
  SUBCASE("SIGINT") { proxy.process().signal(SIGINT); }
  SUBCASE("SIGTERM twice") {
    proxy.process().signal(SIGTERM);
    CHECK(proxy.process().wait_for_output(R"("event":"draining")"));
    proxy.process().signal(SIGTERM);
  }
  CHECK(proxy.process().wait(5s) == 0);  // the drain would take 30 s
}

TEST_CASE("a signal that comes as soon as it listens drains it") {
  for (int n = 0; n < 5; ++n) {
    ProxyProcess proxy(configuration({"127.0.0.1:1"}));
    proxy.process().signal(SIGTERM);
    CHECK(proxy.process().wait() == 0);
  }
}

TEST_CASE("a process that was held up measures its event-loop lag and sheds by it") {
  ScriptedPeer peer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  ProxyProcess proxy(configuration(
      {peer.address()}, {{"workers", 2}, {"overload", {{"tick_ms", 20}, {"cooldown_ms", 200}}}}));
  const auto becomes = [&](const std::string& sample, Milliseconds within = kPatience) {
    const Deadline deadline(within);
    while (!deadline.passed()) {
      const std::string page = admin(proxy, "/metrics").body;
      const std::size_t at = page.find("\n" + sample);
      if (at == std::string::npos) continue;
      const char after = page[at + 1 + sample.size()];
      // A sample that ends in a blank stands for any value but 0.
      if (sample.back() == ' ' ? after != '0' : after == '\n') return true;
    }
    return false;
  };
  constexpr const char* kShed =
      R"(spillway_overload_transitions_total{upstream="app",to="OVERLOADED",reason="EVENT_LOOP_LAG"} )";
  CHECK(becomes(R"(spillway_overload_state{upstream="app"} 0)"));
  // A tenth of a second later it is over: on a busy machine that may pass without a tick.
  bool has_shed = false;
  for (int stall = 0; stall < 10 && !has_shed; ++stall) {
    proxy.process().signal(SIGSTOP);
    const Event nothing;
    CHECK_FALSE(nothing.wait(1000ms));  // the stall itself: only real time can be late
    proxy.process().signal(SIGCONT);
    has_shed = becomes(kShed, 500ms);
  }
  CHECK(has_shed);
  CHECK(becomes(R"(spillway_overload_state{upstream="app"} 0)"));
}

TEST_CASE("SIGHUP reads the file again and a bad one leaves everything as it was") {
  const ScriptedPeer one("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none");
  const ScriptedPeer other("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother");
  ProxyProcess proxy(configuration({one.address()}));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/")).body == "one");
  proxy.rewrite("{ \"upstreams\": [ }");
  proxy.process().signal(SIGHUP);
  CHECK(proxy.process().wait_for_output(R"("event":"reload_failed","path":")"));
  CHECK(client.ask(get("/")).body == "one");
  proxy.reconfigure(configuration({other.address()}));
  proxy.process().signal(SIGHUP);
  CHECK(proxy.process().wait_for_output(R"("event":"reloaded","generation":2)"));
  CHECK(client.ask(get("/")).body == "other");
}

TEST_CASE("a file that is never read to its end delays no end of the process") {
  HeldPeer held;
  ProxyProcess proxy(
      configuration({held.peer.address()}, {{"limits", {{"drain_timeout_ms", 200}}}}));
  const RawClient client = held.asking(proxy);
  // Opening it waits for somebody who writes.
  proxy.rewrite_as_pipe();
  proxy.process().signal(SIGHUP);
  RawClient operator_page(proxy.admin_port());
  operator_page.send("POST /reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  CHECK_FALSE(operator_page.has_bytes(200ms));
  CHECK(admin(proxy, "/healthz").status() == 200);
  SUBCASE("SIGINT") { proxy.process().signal(SIGINT); }
  SUBCASE("a drain whose time is over") { proxy.process().signal(SIGTERM); }
  CHECK(proxy.process().wait(3s) == 0);
}

}  // namespace spillway
