// An upstream whose answers come when the test wants them.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>

#include "support/event.hpp"
#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"

namespace spillway::support {

struct HeldPeer {
  Event go;
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (proxy.read_request()) {
      if (!proxy.wait(go)) return;
      proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate");
    }
  }};

  // A client whose request has arrived here.
  RawClient asking(const ProxyProcess& proxy) {
    const std::size_t before = peer.seen().requests;
    RawClient client(proxy.port());
    client.send(get("/slow"));
    REQUIRE(peer.wait_until([&](const auto& seen) { return seen.requests == before + 1; }));
    return client;
  }
};

}  // namespace spillway::support
