// The real binary as a service manager starts it: what it is told, and when.
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/counting_backend.hpp"
#include "support/held_peer.hpp"
#include "support/notify_socket.hpp"
#include "support/places.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;
using TestClock = std::chrono::steady_clock;

// A service: the binary with a configuration and an environment.
struct Service {
  Service(NotifySocket& manager, const std::string& settings, std::vector<std::string> more = {})
      : process(command(manager, settings, std::move(more))) {}

  std::vector<std::string> command(NotifySocket& manager, const std::string& settings,
                                   std::vector<std::string> more) {
    std::vector<std::string> all{"env", "NOTIFY_SOCKET=" + manager.name()};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {support::in_build("spillway"), "run", "--config",
                           directory.write("spillway.json", settings)});
    return all;
  }

  TemporaryDirectory directory;
  ChildProcess process;
};

std::string settings_for(const std::string& server) {
  return configuration({server},
                       {{"listen", {{"port", 0}}}, {"admin", {{"port", 0}}}, {"workers", 2}})
      .dump();
}

// The port that a status names behind these words; 0 without one.
std::uint16_t port_after(const std::string& status, const std::string& words) {
  const std::size_t found = status.find(words);
  const std::size_t port = found == std::string::npos ? found : status.find(" port ", found);
  if (port == std::string::npos) return 0;
  return static_cast<std::uint16_t>(std::stoi(status.substr(port + 6)));
}

}  // namespace

TEST_CASE("a service is ready once both ports answer and says when it ends") {
  for (const auto kind : {NotifySocket::Kind::path, NotifySocket::Kind::abstract}) {
    CountingBackend backend({});
    NotifySocket manager(kind);
    Service service(manager, settings_for(backend.address()));
    const std::string told = manager.next().value_or("nothing");
    CAPTURE(told);
    CHECK(says(told, "READY=1"));
    const std::uint16_t port = port_after(told, "STATUS=serving on 127.0.0.1");
    const std::uint16_t admin = port_after(told, "admin on 127.0.0.1");
    CHECK(RawClient(port).ask(get("/")).status() == 200);
    CHECK(RawClient(admin).ask(get("/readyz")).status() == 200);
    CHECK_FALSE(manager.next(Milliseconds{0}));  // nobody watches it

    service.process.signal(SIGTERM);
    CHECK(says(manager.next().value_or("nothing"), "STOPPING=1"));
    CHECK(service.process.wait() == 0);
    CHECK_FALSE(manager.next(Milliseconds{0}));
  }
}

TEST_CASE("a service that serves on before it drains says both") {
  NotifySocket manager;
  json settings = json::parse(settings_for("127.0.0.1:1"));
  settings["limits"]["drain_delay_ms"] = 100;
  Service service(manager, settings.dump());
  REQUIRE(manager.next_with("READY=1"));
  service.process.signal(SIGTERM);
  const std::string ending = manager.next().value_or("nothing");
  CHECK(says(ending, "STOPPING=1"));
  CHECK(says(ending, "STATUS=not ready, but serving for 100 ms more"));
  CHECK(says(manager.next().value_or("nothing"), "STATUS=finishing what runs"));
  CHECK(service.process.wait() == 0);
  CHECK_FALSE(manager.next(Milliseconds{0}));
}

TEST_CASE("a service says when it reads its configuration and what came of it") {
  NotifySocket manager;
  Service service(manager, settings_for("127.0.0.1:1"));
  const auto ready = manager.next_with("READY=1");
  REQUIRE(ready);
  const std::string where = ready->substr(ready->find("serving on"));
  const auto after_reload = [&](const std::string& settings) {
    service.directory.write("spillway.json", settings);
    service.process.signal(SIGHUP);
    const std::string told = manager.next().value_or("nothing");
    CHECK(says(told, "RELOADING=1"));
    CHECK(told.find("\nMONOTONIC_USEC=") != std::string::npos);
    return manager.next().value_or("nothing");
  };
  CHECK(after_reload(settings_for("127.0.0.1:2")) == ready);
  // It serves, so it is ready; that it serves the old one is in the status.
  CHECK(after_reload(R"({"upstreams": [], "worker": 1})") ==
        "READY=1\nSTATUS=reload refused: $.upstreams: found 0 elements, allowed: 1 to 256 (and 1 "
        "more); as before " +
            where);
  const std::string syntax = after_reload("no JSON");
  CHECK(syntax.starts_with("READY=1\nSTATUS=reload refused: "));
  CHECK(syntax.ends_with("; as before " + where));
  CHECK(after_reload(settings_for("nowhere.invalid:80"))
            .find("refused: $.upstreams[0].servers[0]: found \"nowhere.invalid:80\", which has no "
                  "address") != std::string::npos);
  CHECK(after_reload(settings_for("127.0.0.1:2")) == ready);
}

TEST_CASE("a service that still waits for its admin port is not ready, whatever it reads again") {
  DrainingProxy former;
  const json settings = configuration(
      {"127.0.0.1:1"}, {{"listen", {{"port", 0}}}, {"admin", {{"port", former.admin_port()}}}});
  NotifySocket manager;
  Service service(manager, settings.dump());
  REQUIRE(service.process.wait_for_output(R"("listener":"proxy")"));
  service.process.signal(SIGHUP);
  CHECK(says(manager.next().value_or("nothing"), "RELOADING=1"));
  CHECK(manager.next().value_or("nothing").starts_with("STATUS=serving on "));

  former.answer();
  CHECK(former.process().wait() == 0);
  CHECK(says(manager.next().value_or("nothing"), "READY=1"));
}

TEST_CASE("what came of a reload by the page is in the status too") {
  NotifySocket manager;
  Service service(manager, settings_for("127.0.0.1:1"));
  const auto ready = manager.next_with("READY=1");
  REQUIRE(ready);
  const std::string where = ready->substr(ready->find("serving on"));
  const std::uint16_t admin = port_after(*ready, "admin on 127.0.0.1");
  const auto reload = [&](const std::string& settings) {
    service.directory.write("spillway.json", settings);
    return RawClient(admin)
        .ask("POST /reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
        .status();
  };
  CHECK(reload("{}") == 422);
  CHECK(manager.next().value_or("nothing").starts_with("STATUS=reload refused: $.upstreams"));
  CHECK(reload(settings_for("127.0.0.1:1")) == 200);
  CHECK(manager.next() == "STATUS=" + where);
}

TEST_CASE("what ends at once says so too") {
  NotifySocket manager;
  Service service(manager, settings_for("127.0.0.1:1"));
  CHECK(manager.next_with("READY=1"));
  service.process.signal(SIGINT);
  CHECK(manager.next_with("STOPPING=1"));
  CHECK(service.process.wait() == 0);
}

TEST_CASE("a service whose configuration is bad is never ready and ends with 2") {
  NotifySocket manager;
  Service service(manager, R"({"upstreams": []})");
  CHECK(service.process.wait() == 2);
  CHECK_FALSE(manager.next(Milliseconds{0}));
}

TEST_CASE("a service whose port is taken is never ready and ends with 1") {
  CountingBackend other({});
  for (const char* listener : {"listen", "admin"}) {
    json settings = json::parse(settings_for("127.0.0.1:1"));
    settings[listener]["port"] = other.port();
    NotifySocket manager;
    Service service(manager, settings.dump());
    CHECK(service.process.wait() == 1);
    CHECK_FALSE(manager.next(Milliseconds{0}));
  }
}

TEST_CASE("a service that is watched tells that it is well at half of the interval") {
  NotifySocket manager;
  Service service(manager, settings_for("127.0.0.1:1"), {"WATCHDOG_USEC=600000"});
  REQUIRE(manager.next_with("READY=1"));
  const auto begin = TestClock::now();
  for (int n = 0; n < 4; ++n) CHECK(manager.next() == "WATCHDOG=1\n");
  const auto took = TestClock::now() - begin;
  CHECK(took >= 900ms);  // four times 300 ms, from when READY=1 was read
  CHECK(took < 3s);      // a busy machine is late now and then
  // One that is held up says nothing, and goes on as it goes on.
  service.process.signal(SIGSTOP);
  while (manager.next(Milliseconds{0})) {
  }
  CHECK_FALSE(manager.next(Milliseconds{700}));
  service.process.signal(SIGCONT);
  CHECK(manager.next() == "WATCHDOG=1\n");
  // It is watched as long as it runs.
  service.process.signal(SIGTERM);
  CHECK(manager.next_with("STOPPING=1"));
  CHECK(service.process.wait() == 0);
}

TEST_CASE("a watchdog that is for another process is not fed") {
  NotifySocket manager;
  Service service(manager, settings_for("127.0.0.1:1"), {"WATCHDOG_USEC=20000", "WATCHDOG_PID=1"});
  REQUIRE(manager.next_with("READY=1"));
  CHECK_FALSE(manager.next(Milliseconds{200}));
}

}  // namespace spillway::support
