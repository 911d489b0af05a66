// A worker's connections take turns: large transfers do not delay small requests.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

using std::chrono::steady_clock;

const std::uint64_t kBytes = std::uint64_t{kSanitized ? 32 : 512} << 20;

// The longest of the answers to small requests, one after the other, until the event.
Milliseconds longest_answer(std::uint16_t port, const std::atomic<bool>& ended) {
  RawClient client(port);
  auto longest = steady_clock::duration::zero();
  while (!ended) {
    const auto asked = steady_clock::now();
    CHECK(client.ask(get("/small")).body == "small");
    longest = std::max(longest, steady_clock::now() - asked);
  }
  return std::chrono::duration_cast<Milliseconds>(longest);
}

TEST_CASE("small requests are answered while the same worker moves large bodies") {
  const std::string piece = pattern(1 << 20);
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto head = proxy.read_head()) {
      if (head->target() == "/small") {
        proxy.send(ok("small"));
      } else if (head->method() == "PUT") {
        if (proxy.skip_bytes(kBytes)) proxy.send(ok("all there"));
      } else {
        proxy.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kBytes) + "\r\n\r\n");
        for (std::uint64_t sent = 0; sent < kBytes; sent += piece.size()) proxy.send(piece);
      }
    }
  });
  ProxyUnderTest proxy(peer.address(),
                       never_shed({{"workers", 1}, {"limits", {{"body_bytes", kBytes}}}}));
  for (const bool upload : {false, true}) {
    CAPTURE(upload);
    std::atomic<bool> ended = false;
    std::atomic<bool> whole = false;
    std::thread mover([&] {
      try {
        RawClient client(proxy.port());
        if (upload) {
          client.send("PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: " +
                      std::to_string(kBytes) + "\r\n\r\n");
          for (std::uint64_t sent = 0; sent < kBytes; sent += piece.size()) client.send(piece);
          whole = client.read_response().body == "all there";
        } else {
          client.send(get("/large")).read_head();
          std::uint64_t got = 0;
          while (got < kBytes && client.read_bytes(piece.size()) == piece) got += piece.size();
          whole = got == kBytes;
        }
      } catch (const std::runtime_error&) {  // not whole
      }
      ended = true;
    });
    const Milliseconds longest = longest_answer(proxy.port(), ended);
    mover.join();
    CHECK(whole);
    MESSAGE("longest: " << longest.count() << " ms");
    CHECK(longest < kSoon);
  }
}

}  // namespace
}  // namespace spillway::support
