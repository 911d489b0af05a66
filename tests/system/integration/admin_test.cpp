// The operator's pages of a proxy that serves.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "support/child_process.hpp"
#include "support/counting_backend.hpp"
#include "support/places.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "support/temporary_directory.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

// Takes connections at a port that is free.
class ListeningPort {
 public:
  explicit ListeningPort(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const int on = 1;
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(socket_, 8) == 0);
  }
  ~ListeningPort() { ::close(socket_); }
  ListeningPort(const ListeningPort&) = delete;
  ListeningPort& operator=(const ListeningPort&) = delete;

 private:
  int socket_;
};

}  // namespace

TEST_CASE("promtool finds nothing wrong with the metrics of a proxy that has served") {
  CountingBackend backend({.service = 1ms});
  const ProxyUnderTest proxy(backend.address());
  RawClient client(proxy.port());
  for (int n = 0; n < 30; ++n) CHECK(client.ask(get("/")).status() == 200);
  CHECK(RawClient(proxy.port()).ask("nonsense\r\n\r\n").status() == 400);

  const Message page = proxy.admin("/metrics");
  CHECK(page.status() == 200);
  CHECK(page.field("Content-Type").value_or("").starts_with("text/plain"));
  const TemporaryDirectory directory;
  const std::string file = directory.write("metrics", page.body).string();
  const Finished checked = run({"sh", "-c", "exec promtool check metrics < \"$0\"", file});
  INFO(checked.err);
  CHECK(checked.exit_code == 0);
  CHECK(checked.out + checked.err == "");

  CHECK(proxy.metric_becomes(
      R"(spillway_requests_total{route="default",class="P1",outcome="forwarded"})", 30));
  CHECK(proxy.metric_becomes(R"(spillway_responses_total{class="P1",code="200"})", 30));
  CHECK(proxy.metric_becomes(R"(spillway_upstream_duration_seconds_count{upstream="app"})", 30));
  CHECK(proxy.metric_becomes(R"(spillway_started_total{class="P1"})", 30));
  CHECK(proxy.metric_becomes(R"(spillway_effective_limit{upstream="app"})", 64));
}

TEST_CASE("a running proxy shows the families of metrics that are documented") {
  ScriptedPeer peer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  const ProxyUnderTest proxy(
      peer.address(),
      {{"app", {{"circuit_breaker", json::object()}, {"health_check", json::object()}}},
       {"store", {{"url", "memory:"}}},
       {"routes",
        {{{"name", "sale"}, {"match", {{"path", "/sale"}}}, {"waiting_room", json::object()}}}},
       {"default_route", {{"cache", {{"max_bytes", 1 << 20}}}, {"defer", json::object()}}}});
  CHECK(RawClient(proxy.port()).ask(get("/")).status() == 200);
  std::set<std::string> shown, documented;
  std::istringstream page(proxy.metrics());
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("# TYPE ")) shown.insert(line.substr(7, line.find(' ', 7) - 7));
  }
  std::ifstream file(support::in_source("docs/observability.md"));
  const std::string row = "| `spillway_";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(row)) documented.insert(line.substr(3, line.find('`', 3) - 3));
  }
  CHECK(shown.size() > 40);
  for (const std::string& family : shown) CHECK_MESSAGE(documented.contains(family), family);
  for (const std::string& family : documented) CHECK_MESSAGE(shown.contains(family), family);
}

TEST_CASE("the state shows what each upstream and class does now") {
  Event go;
  ScriptedPeer peer([&](PeerConnection& asker) {
    if (asker.read_request() && asker.wait(go)) {
      asker.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      asker.wait_closed();
    }
  });
  const ProxyUnderTest proxy(peer.address());
  RawClient client(proxy.port());
  client.send(get("/"));
  REQUIRE(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));

  const json upstream = proxy.state()["upstreams"][0];
  CHECK(upstream["name"] == "app");
  CHECK(upstream["state"] == "NORMAL");
  CHECK(upstream["reason"] == nullptr);
  CHECK(upstream["dispatch"]["inflight"] == 1);
  CHECK(upstream["classes"][1]["name"] == "P1");
  CHECK(upstream["classes"][1]["inflight"] == 1);
  go.set();
  CHECK(client.read_response().status() == 200);
  CHECK(proxy.state()["upstreams"][0]["dispatch"]["inflight"] == 0);
}

TEST_CASE("the configuration is shown with every default and without its secret") {
  const std::string token = "correct-horse-battery-staple";
  const ProxyUnderTest proxy("127.0.0.1:1", {{"admin", {{"token", token}}}});
  CHECK(proxy.admin("/config").status() == 401);
  CHECK(proxy.admin("/healthz").status() == 200);
  const Message page =
      RawClient(proxy.admin_port())
          .ask("GET /config HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token +
               "\r\n\r\n");
  REQUIRE(page.status() == 200);
  CHECK(page.body.find(token) == std::string::npos);
  const json shown = json::parse(page.body);
  CHECK(shown["dispatch"]["concurrency"] == "auto");
  CHECK(shown["classes"].size() == 3);
}

TEST_CASE("it is not ready while no upstream can be reached and ready again once one can") {
  std::optional<RefusingPort> down(std::in_place);
  const std::uint16_t port = down->port();
  const ProxyUnderTest proxy("127.0.0.1:" + std::to_string(port));
  CHECK(proxy.admin("/readyz").status() == 200);
  CHECK(RawClient(proxy.port()).ask(get("/")).status() == 502);
  const Message page = proxy.admin("/readyz");
  CHECK(page.status() == 503);
  CHECK(page.body.find("upstream") != std::string::npos);
  CHECK(proxy.admin("/healthz").status() == 200);

  // Nobody sends requests to one that is not ready: it must find out by itself, within a second.
  down.reset();
  const ListeningPort up(port);
  const Deadline deadline;
  int status = 0;
  while (status != 200 && !deadline.passed()) status = proxy.admin("/readyz").status();
  CHECK(status == 200);
}

// Fields that are the same whatever the page tells.
const std::set<std::string> kSaysNothing{
    "Date",          "Content-Type",           "Content-Length",
    "Cache-Control", "X-Content-Type-Options", "Content-Security-Policy"};

TEST_CASE("clients that do not take their responses do not lock out the probes") {
  CountingBackend backend({});
  const ProxyUnderTest proxy(backend.address());
  std::string asking;
  for (int n = 0; n < 400; ++n) asking += get("/metrics");
  std::deque<RawClient> takers;
  const auto fill = [&] {
    for (int n = 0; n < 64; ++n)
      takers.emplace_back(proxy.admin_port(), 4096).try_send(asking, Milliseconds{0});
    // As many as there may be: each is being answered, and takes no more.
    for (RawClient& one : takers) one.has_bytes(kPatience);
  };
  fill();
  for (int n = 0; n < 200; ++n) {
    for (const char* probe : {"/healthz", "/readyz"}) {
      const Message answer = proxy.admin(probe);
      REQUIRE(answer.status() == 200);
    }
  }
}

TEST_CASE("without the token only /healthz and /readyz answer") {
  const RefusingPort down;
  const ProxyUnderTest proxy(down.address(), {{"admin", {{"token", "a-token-that-is-long"}}}});
  CHECK(proxy.admin("/healthz").body == "{\"status\":\"ok\"}\n");
  CHECK(proxy.admin("/readyz").body == "{\"status\":\"ready\"}\n");
  CHECK(RawClient(proxy.port()).ask(get("/")).status() == 502);
  // Neither a name of an upstream nor an address.
  const Message page = proxy.admin("/readyz");
  CHECK(page.status() == 503);
  CHECK(json::parse(page.body) == json{{"status", "not ready"}, {"reason", "no live upstream"}});
  for (const Message& open : {page, proxy.admin("/healthz")}) {
    for (const auto& [name, value] : open.fields) {
      CAPTURE(name);
      CHECK(kSaysNothing.contains(name));
    }
  }
  for (const char* closed : {"/", "/metrics", "/state", "/config", "/healthz/", "/readyz/x"})
    CHECK(proxy.admin(closed).status() == 401);
}

}  // namespace spillway
