// A process without file descriptors left: it waits for some, and what has begun goes on.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <deque>
#include <fstream>
#include <sstream>
#include <string>

#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

void set_limit(pid_t process, std::size_t open_files) {
  const rlimit limit{open_files, 4096};
  REQUIRE(::prlimit(process, RLIMIT_NOFILE, &limit, nullptr) == 0);
}

// Processor time that it has used so far (utime and stime of proc(5)).
Milliseconds processor_time(pid_t process) {
  std::stringstream text;
  text << std::ifstream("/proc/" + std::to_string(process) + "/stat").rdbuf();
  std::istringstream fields(text.str().substr(text.str().rfind(')') + 2));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  long user = 0, system = 0;
  fields >> user >> system;
  return Milliseconds{(user + system) * 1000 / ::sysconf(_SC_CLK_TCK)};
}

double value_of(const std::string& metrics, const std::string& sample) {
  const std::size_t found = metrics.find("\n" + sample + " ");
  return found == std::string::npos ? -1 : std::stod(metrics.substr(found + sample.size() + 2));
}

TEST_CASE("without descriptors accepting waits idly and goes on by itself") {
  constexpr std::string_view kScrape = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  constexpr const char* kPauses = R"(spillway_accept_pauses_total{reason="descriptors"})";
  Event go;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->target() == "/held" && !proxy.wait(go)) return;
      if (!proxy.send(ok("x"))) return;
    }
  });
  ProxyProcess proxy(configuration({peer.address()}, never_shed()));
  const pid_t process = proxy.process().pid();
  RawClient admin(proxy.admin_port());
  CHECK(value_of(admin.ask(kScrape).body, kPauses) == 0);

  // Requests under way, and connections to the upstream that are idle.
  std::deque<RawClient> held, warm, crowd;
  for (int i = 0; i < 4; ++i) held.emplace_back(proxy.port()).send(get("/held"));
  REQUIRE(peer.wait_until([](const auto& seen) { return seen.requests == 4; }));
  for (int i = 0; i < 4; ++i) warm.emplace_back(proxy.port()).send(get("/"));
  for (RawClient& client : warm) CHECK(client.read_response().status() == 200);
  set_limit(process, proxy.open_files() + 6);
  for (RawClient& client : warm) client.send(get("/held"));  // by the idle connections
  REQUIRE(peer.wait_until([](const auto& seen) { return seen.requests == 12; }));

  // Silent clients take what is left. None of them gives way before a second has passed.
  for (int i = 0; i < 100; ++i) crowd.emplace_back(proxy.port());
  RawClient last(proxy.port());
  last.send(get("/"));
  const Milliseconds before = processor_time(process);
  CHECK_FALSE(last.has_bytes(500ms));
  CHECK(processor_time(process) - before < (kSanitized ? 300ms : 150ms));

  // Requests under way are served.
  go.set();
  for (RawClient& client : warm) CHECK(client.read_response().status() == 200);
  for (RawClient& client : held) CHECK(client.read_response().status() == 200);
  const std::string metrics = admin.ask(kScrape).body;
  CHECK(value_of(metrics, kPauses) >= 1);

  // Those that leave let others in, and so do those that have been silent for a second, and a limit
  // that is raised. A client that is accepted while no descriptor is left for the upstream gets a
  // 503.
  warm.clear();
  held.clear();
  const auto is_answered = [](RawClient& client) {
    const int status = client.read_response().status();
    return status == 200 || status == 503;
  };
  CHECK(is_answered(last));
  set_limit(process, 4096);
  for (int i = 0; i < 20; ++i) CHECK(RawClient(proxy.port()).ask(get("/")).status() == 200);

  crowd.clear();
  proxy.process().signal(SIGTERM);
  CHECK(proxy.process().wait() == 0);
  CHECK(proxy.process().err().find("accepting pauses: no file descriptors are left") !=
        std::string::npos);
}

TEST_CASE("idle connections leave descriptors for the files of slow clients") {
  const std::string body = pattern(12'000'000);
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (proxy.read_request())
      if (!proxy.send(ok(body))) return;
  });
  nlohmann::json settings = never_shed({{"workers", 1}, {"dispatch", {{"concurrency", 4}}}});
  settings["limits"] = {{"buffer_bytes", 0}, {"tunnels", 0}};
  ProxyProcess proxy(configuration({peer.address()}, settings),
                     {"sh", "-c", "ulimit -n 700 && exec \"$@\"", "sh"});
  RawClient admin(proxy.admin_port());
  const auto metric = [&](const char* sample) {
    return value_of(admin.ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").body, sample);
  };
  const double most = metric("spillway_connections_limit");
  REQUIRE(most > 350);  // half of the descriptors
  REQUIRE(most < 700);
  RawClient dawdler(proxy.port(), 4096);
  std::deque<RawClient> idle;
  while (idle.size() + 2 < most) idle.emplace_back(proxy.port());
  const Deadline patience(kPatience);
  while (metric(R"(spillway_connections{side="client"})") < most - 1) REQUIRE(!patience.passed());
  CHECK(dawdler.send(get("/")).read_head().status() == 200);
  while (metric("spillway_temp_files_total") == 0) REQUIRE(!patience.passed());
  CHECK((dawdler.read_bytes(body.size()) == body));
  CHECK(metric(R"(spillway_temp_files_unavailable_total{reason="error"})") == 0);
}

TEST_CASE("few descriptors serve many clients at a time and the log says what is missing") {
  ScriptedPeer peer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  ProxyProcess proxy(configuration({peer.address()}, {{"workers", 2}}),
                     {"sh", "-c", "ulimit -n 256 && exec \"$@\"", "sh"});
  CHECK(proxy.process().wait_for_output(
      "the limit of open files is 256, enough for 52 client connections at a time"));
  for (const char* part : {"limits.connections need ", "ulimit -Hn", "LimitNOFILE"})
    CHECK(proxy.process().err().find(part) != std::string::npos);
  std::deque<RawClient> clients;
  for (int i = 0; i < 50; ++i) clients.emplace_back(proxy.port()).send(get("/"));
  for (RawClient& client : clients) CHECK(client.read_response().status() == 200);
}

}  // namespace
}  // namespace spillway::support
