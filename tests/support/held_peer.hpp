// An upstream whose answers come when the test wants them.
#pragma once

#include <doctest/doctest.h>

#include <csignal>
#include <cstddef>
#include <cstdint>

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

// A proxy that drains while it has a request at work.
class DrainingProxy {
 public:
  explicit DrainingProxy(int signal = SIGTERM) {
    process().signal(signal);
    REQUIRE(process().wait_for_output(R"("event":"draining")"));
  }

  ChildProcess& process() { return proxy_.process(); }
  std::uint16_t admin_port() const { return proxy_.admin_port(); }
  // The request is answered.
  void answer() {
    held_.go.set();
    CHECK(client_.read_response().body == "late");
  }

 private:
  HeldPeer held_;
  ProxyProcess proxy_{configuration({held_.peer.address()})};
  RawClient client_ = held_.asking(proxy_);
};

}  // namespace spillway::support
