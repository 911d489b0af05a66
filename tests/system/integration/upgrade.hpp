// Connections that switch to another protocol or stream events for long, as the tests of the wire
// ask for them.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {

inline constexpr const char* kSwitching =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

inline constexpr const char* kOpen = R"(spillway_tunnels{kind="upgrade"})";

inline std::string asked(std::string_view result, std::string_view kind = "upgrade") {
  return "spillway_tunnels_total{kind=\"" + std::string(kind) + "\",result=\"" +
         std::string(result) + "\"}";
}
inline std::string ended(std::string_view how, std::string_view kind = "upgrade") {
  return "spillway_tunnels_ended_total{kind=\"" + std::string(kind) + "\",how=\"" +
         std::string(how) + "\"}";
}

inline std::string upgrade(std::string_view target = "/chat", std::string_view lines = {}) {
  return get(target, std::string("Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")
                         .append(lines));
}

// Switches for every request for /chat and then says each line back; answers others "plain".
inline void echo_lines(PeerConnection& proxy) {
  while (const auto request = proxy.read_request()) {
    if (request->target() != "/chat") {
      if (!proxy.send(ok("plain"))) return;
      continue;
    }
    if (!proxy.send(kSwitching)) return;
    while (const auto line = proxy.read_until("\n")) {
      if (!proxy.send(*line)) return;
    }
    return;
  }
}

// One slot and one worker for all requests.
inline nlohmann::json one_slot() {
  return never_shed({{"workers", 1}, {"dispatch", {{"concurrency", 1}}}});
}

// A configuration that stores what its one route answers.
inline nlohmann::json everything_stored() {
  return never_shed({{"routes",
                      {{{"name", "stored"},
                        {"match", {{"path", "/**"}}},
                        {"class", "P0"},
                        {"upstream", "app"},
                        {"cache", {{"max_bytes", 1 << 20}, {"serve", "fresh"}}}}}}});
}

// The one request that became a long-lived connection is counted as forwarded, without its life.
inline void check_counted_without_its_life(const ProxyUnderTest& proxy) {
  CHECK(proxy.metric_becomes(
      R"(spillway_requests_total{route="default",class="P0",outcome="forwarded"})", 1));
  CHECK(proxy.metric(R"(spillway_upstream_duration_seconds_count{upstream="app"})") == 0);
  CHECK(proxy.metric_becomes(R"(spillway_request_duration_seconds_count{class="P0"})", 1));
  CHECK(proxy.metric(R"(spillway_request_duration_seconds_sum{class="P0"})") < 0.5);
}

// The client's side of one, switched and ready.
inline RawClient open_tunnel(std::uint16_t port, std::string_view target = "/chat",
                             const char* from = nullptr) {
  RawClient client(port, 0, from);
  const Message head = client.send(upgrade(target)).read_head();
  if (head.status() != 101) throw std::runtime_error("not switched: " + head.start_line);
  return client;
}

}  // namespace spillway::support
