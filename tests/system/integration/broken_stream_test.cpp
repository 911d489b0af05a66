// Event streams that break: within a second of their head that is their server's failure, later it
// says nothing about it.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/upgrade.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

const std::string kBegin =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    "9\r\ndata: 1\n\n\r\n";
const std::string kEnd = "0\r\n\r\n";
constexpr int kClients = 24;

// An upstream of two servers, asked in turn. `bad` breaks its streams once `breaks` is set; `sound`
// ends its streams in order.
struct Servers {
  explicit Servers(bool resets = false) : resets_(resets) {}

  Event breaks;
  ScriptedPeer bad{[this](PeerConnection& proxy) {
    if (!proxy.read_request() || !proxy.send(kBegin) || !proxy.wait(breaks)) return;
    if (resets_) proxy.reset();
  }};
  ScriptedPeer sound{[](PeerConnection& proxy) {
    if (proxy.read_request()) proxy.send(kBegin + kEnd);
  }};
  ProxyUnderTest proxy{configuration(
      {bad.address(), sound.address()},
      never_shed({{"workers", 1},
                  {"app",
                   {{"balance", "round_robin"},
                    {"ejection", {{"consecutive_failures", 3}, {"base_ms", 60'000}}}}}}))};

  double failures() const {
    return proxy.metric(R"(spillway_server_failures_total{upstream="app",server=")" +
                        bad.address() + R"(",kind="truncated"})");
  }
  double ejections() const {
    return proxy.metric(R"(spillway_server_ejections_total{upstream="app",server=")" +
                        bad.address() + R"("})");
  }

 private:
  bool resets_;
};

// From an address, and for a path, of its own: none of them alone is what fails.
RawClient open_stream(Servers& servers, int number) {
  RawClient client(servers.proxy.port(), 0, ("127.0.2." + std::to_string(number + 1)).c_str());
  const std::string request = get("/events/" + std::to_string(number), "Connection: close\r\n");
  CHECK(client.send(request).read_head().status() == 200);
  return client;
}

bool is_broken_off(RawClient& client) { return !client.read_to_end().ends_with(kEnd); }

}  // namespace

TEST_CASE("a server that breaks event streams within a second of their head is left out") {
  for (const bool resets : {false, true}) {
    CAPTURE(resets);
    Servers servers(resets);
    servers.breaks.set();
    int broken_off = 0;
    for (int n = 0; n < kClients; ++n) {
      RawClient client = open_stream(servers, n);
      broken_off += is_broken_off(client) ? 1 : 0;
    }
    CHECK(broken_off == 3);
    CHECK(servers.failures() == 3);
    CHECK(servers.ejections() == 1);
  }
}

TEST_CASE("later their breaking says nothing, nor does a client that leaves at once") {
  Servers servers;
  std::vector<RawClient> clients;
  for (int n = 0; n < kClients; ++n) clients.push_back(open_stream(servers, n));
  const int at_bad = static_cast<int>(servers.bad.seen().requests);
  CHECK(at_bad >= kClients / 3);
  for (int n = 0; n < 4; ++n) open_stream(servers, kClients + n).close();
  // A second after the last head, and room.
  const Event never;
  never.wait(1200ms);
  servers.breaks.set();
  int broken_off = 0;
  for (RawClient& client : clients) broken_off += is_broken_off(client) ? 1 : 0;
  CHECK(broken_off == at_bad);
  CHECK(servers.failures() == 0);
  CHECK(servers.ejections() == 0);
}

TEST_CASE("a stream that ends in order is a success of its server") {
  // After each two that break one that does not: there is never a third in a row.
  int number = 0;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    proxy.send(++number % 3 == 0 ? kBegin + kEnd : kBegin);
  });
  ScriptedPeer sound([](PeerConnection& proxy) {
    if (proxy.read_request()) proxy.send(kBegin + kEnd);
  });
  const ProxyUnderTest proxy(configuration(
      {peer.address(), sound.address()},
      never_shed(
          {{"workers", 1},
           {"app", {{"balance", "round_robin"}, {"ejection", {{"consecutive_failures", 3}}}}}})));
  for (int n = 0; n < kClients; ++n) {
    RawClient client(proxy.port(), 0, ("127.0.2." + std::to_string(n + 1)).c_str());
    client.send(get("/events/" + std::to_string(n), "Connection: close\r\n")).read_to_end();
  }
  CHECK(number >= 9);
  CHECK(proxy.metric(R"(spillway_server_ejections_total{upstream="app",server=")" + peer.address() +
                     R"("})") == 0);
}

}  // namespace spillway::support
