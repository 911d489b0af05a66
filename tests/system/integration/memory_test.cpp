// A gigabyte in either direction passes through the real binary in bounded memory.
#include <doctest/doctest.h>

#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

const std::uint64_t kBytes = std::uint64_t{kSanitized ? 64 : 1024} << 20;
constexpr std::size_t kMost = std::size_t{64} << 20;
constexpr std::size_t kPiece = 1 << 20;

nlohmann::json settings(const ScriptedPeer& peer) {
  return configuration({peer.address()}, never_shed({{"limits", {{"body_bytes", kBytes}}}}));
}

// Under a sanitizer the process holds more than the proxy does.
void check_memory(const ProxyProcess& proxy) {
  const std::size_t peak = proxy.peak_memory();
  MESSAGE("peak: " << (peak >> 20) << " MiB");
  if (!kSanitized) CHECK(peak < kMost);
}

TEST_CASE("a gigabyte comes down in less than 64 MiB of memory") {
  const std::string piece = pattern(kPiece);
  ScriptedPeer peer([&](PeerConnection& proxy) {
    proxy.read_request();
    proxy.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kBytes) + "\r\n\r\n");
    for (std::uint64_t sent = 0; sent < kBytes; sent += kPiece) {
      if (!proxy.send(piece)) return;
    }
  });
  ProxyProcess proxy(settings(peer));
  RawClient client(proxy.port());
  CHECK(client.send(get("/")).read_head().status() == 200);
  std::uint64_t wrong = 0;
  for (std::uint64_t got = 0; got < kBytes; got += kPiece) {
    wrong += client.read_bytes(kPiece) != piece;
  }
  CHECK(wrong == 0);
  check_memory(proxy);
}

TEST_CASE("a gigabyte goes up in less than 64 MiB of memory") {
  const std::string piece = pattern(kPiece);
  ScriptedPeer peer([&](PeerConnection& proxy) {
    if (proxy.read_head() && proxy.skip_bytes(kBytes)) proxy.send(ok("all there"));
  });
  ProxyProcess proxy(settings(peer));
  RawClient client(proxy.port());
  client.send("PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: " + std::to_string(kBytes) +
              "\r\n\r\n");
  for (std::uint64_t sent = 0; sent < kBytes; sent += kPiece) client.send(piece);
  CHECK(client.read_response().body == "all there");
  check_memory(proxy);
}

TEST_CASE("an upstream that is faster than its client costs no memory") {
  const std::string piece = pattern(kPiece);
  ScriptedPeer peer([&](PeerConnection& proxy) {
    proxy.read_request();
    proxy.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kBytes) + "\r\n\r\n");
    while (proxy.send(piece)) {
    }
  });
  ProxyProcess proxy(settings(peer));
  std::vector<RawClient> dawdlers;
  for (int i = 0; i < 50; ++i) {
    dawdlers.emplace_back(proxy.port(), 4096);
    CHECK(dawdlers.back().send(get("/")).read_head().status() == 200);
  }
  check_memory(proxy);
}

TEST_CASE("the memory that a burst of clients took goes back to the system") {
  ScriptedPeer peer(ok("done"));
  ProxyProcess proxy(settings(peer));
  CHECK(RawClient(proxy.port()).ask(get("/")).status() == 200);
  const std::size_t before = proxy.memory();
  {
    std::vector<RawClient> burst;
    const std::string half = post("/", pattern(60'000)).substr(0, 30'000);
    for (int n = 0; n < 1500; ++n) burst.emplace_back(proxy.port()).send(half);
    // The last of them has been read, and so have the others.
    CHECK(burst.back().ask(post("/", pattern(60'000)).substr(30'000)).body == "done");
  }
  const std::size_t grown = proxy.peak_memory() - before;
  CHECK(grown > std::size_t{30} << 20);
  if (kSanitized) return;  // its allocator keeps what is freed
  const Event nothing;
  const Deadline deadline(30s);
  while (proxy.memory() > before + grown / 5 && !deadline.passed()) nothing.wait(100ms);
  MESSAGE("grown by " << (grown >> 20) << " MiB, of which are left "
                      << ((proxy.memory() - before) >> 20));
  CHECK(proxy.memory() <= before + grown / 5);
}

}  // namespace
}  // namespace spillway::support
