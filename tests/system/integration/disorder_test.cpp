// Clients and upstreams that break off anywhere, many at once: nothing is left behind and no client
// gets another's bytes. Most telling under the sanitizers.
#include <doctest/doctest.h>

#include <atomic>
#include <random>
#include <thread>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 60;

// What the upstream does is the first letter of the target; the number behind it comes back.
void misbehave(PeerConnection& proxy) {
  while (const auto head = proxy.read_head()) {
    const std::string target = head->target();
    const std::string body = target + " " + pattern(100'000);
    switch (target[1]) {
      case 'o':  // a complete answer
        if (head->field("Content-Length")) {
          if (!proxy.skip_bytes(std::stoul(*head->field("Content-Length")))) return;
        } else if (head->field("Transfer-Encoding")) {
          if (!proxy.read_until("\r\n0\r\n\r\n")) return;
        }
        if (!proxy.send(ok(body))) return;
        break;
      case 'e': proxy.send(ok(body)); return;  // ahead of the body
      case 'h': proxy.send(ok(body).substr(0, 60'000)); return;
      case 'r': proxy.send(ok(body).substr(0, 60'000)); [[fallthrough]];
      case 'n': proxy.reset(); return;
      default: proxy.wait_closed(300ms); return;
    }
  }
}

// One client's life. Returns false when it got bytes that are not its own.
bool play(std::uint16_t port, std::minstd_rand& random, int number) {
  RawClient client(port);
  for (bool more = true; more;) {
    const std::string target =
        std::string("/") + "ooooehrns"[random() % 9] + std::to_string(number);
    std::string request;
    switch (random() % 4) {
      case 0: request = get(target); break;
      case 1: request = post(target, pattern(random() % 60'000)); break;
      case 2: request = post(target, pattern(100'000 + random() % 200'000)); break;
      case 3:
        request = "PUT " + target + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
                  chunked({pattern(1 + random() % 100'000), "end"});
    }
    const unsigned end = random() % 8;
    if (end < 2) request.resize(random() % request.size());
    if (!client.try_send(request, 2s)) return true;
    if (end == 0 || end == 2) {
      client.reset();
      return true;
    }
    if (end == 1 || end == 3) return true;  // closes
    if (end == 4) client.half_close();
    try {
      const Message answer = client.read_response();
      if (answer.status() == 200 && !answer.body.starts_with(target + " ")) return false;
      more = answer.status() == 200 && !answer.field("Connection");
    } catch (const std::runtime_error&) {  // broken off, as it may be
      more = false;
    }
  }
  return true;
}

TEST_CASE("whatever breaks off across the workers leaves nothing behind") {
  ScriptedPeer peer(misbehave);
  ProxyUnderTest proxy(
      peer.address(),
      never_shed({{"workers", 4},
                  {"dispatch", {{"concurrency", 4}}},
                  {"classes", {{{"name", "P0"}, {"max_wait_ms", 50}}}},
                  {"overload", {{"rules", {{"P0", {{"strategy", "allow"}}}}}}},
                  {"app", {{"response_timeout_ms", 200}, {"idle_connections", 2}}}}));
  std::atomic<int> mixed_up = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::minstd_rand random(static_cast<unsigned>(t) + 1);
      for (int round = 0; round < kRounds; ++round) {
        mixed_up += !play(proxy.port(), random, t * kRounds + round);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(mixed_up == 0);
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
  CHECK(proxy.metric_becomes(R"(spillway_queue_depth{upstream="app",class="P0"})", 0));
  CHECK(proxy.metric_becomes(R"(spillway_connections{side="client"})", 0));
  CHECK(peer.seen().most_open <= 4 + 4 + kThreads);  // a closed one is seen a little later
  CHECK(RawClient(proxy.port()).ask(get("/o1")).status() == 200);
}

TEST_CASE("a server stopped in the middle of everything frees all of it") {
  for (int round = 0; round < 5; ++round) {
    ScriptedPeer peer([](PeerConnection& proxy) {
      while (const auto head = proxy.read_head()) {
        if (head->target() == "/part") proxy.send(ok(pattern(100'000)).substr(0, 50'000));
        if (head->target() == "/whole") proxy.send(ok(pattern(5'000'000)));
      }
    });
    std::vector<RawClient> clients;
    {
      ProxyUnderTest proxy(peer.address(),
                           never_shed({{"workers", 3}, {"dispatch", {{"concurrency", 6}}}}));
      const std::vector<std::string> requests = {
          get("/part"),
          get("/whole"),
          get("/none"),
          "GET / HT",
          post("/large", pattern(1'000'000)).substr(0, 200'000),
          post("/small", pattern(1'000)).substr(0, 500)};
      for (int i = 0; i < 4; ++i) {
        for (const std::string& request : requests) {
          clients.emplace_back(proxy.port(), 4096).try_send(request, 100ms);
        }
      }
      CHECK(peer.wait_until([](const auto& seen) { return seen.requests >= 6; }));
    }
    for (std::size_t i = 0; i < clients.size(); ++i) {
      CAPTURE(i);
      CHECK_NOTHROW(clients[i].read_to_end(2s));
    }
  }
}

}  // namespace
}  // namespace spillway::support
