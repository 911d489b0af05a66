// Connections that switch to another protocol, as the tests of the wire ask for them.
#pragma once

#include <string>
#include <string_view>

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

// The client's side of one, switched and ready.
inline RawClient open_tunnel(std::uint16_t port, std::string_view target = "/chat") {
  RawClient client(port);
  const Message head = client.send(upgrade(target)).read_head();
  if (head.status() != 101) throw std::runtime_error("not switched: " + head.start_line);
  return client;
}

}  // namespace spillway::support
