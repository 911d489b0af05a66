// Clients that leave or dawdle: their slot and their place must not wait for them.
#include <doctest/doctest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

constexpr const char* kInflight = R"(spillway_inflight{upstream="app"})";

nlohmann::json one_slot() {
  return streamed({{"dispatch", {{"concurrency", 1}}},
                   {"classes", {{{"name", "P0"}, {"max_wait_ms", 10'000}, {"sla_ms", 20'000}}}},
                   {"overload", {{"rules", {{"P0", {{"strategy", "allow"}}}}}}}});
}

using Leave = void (*)(RawClient&);
const Leave kWays[] = {[](RawClient& client) { client.close(); },
                       [](RawClient& client) { client.reset(); },
                       [](RawClient& client) { client.half_close(); }};

TEST_CASE("when a client leaves its upstream request is cancelled soon and its slot is free") {
  for (const Leave leave : kWays) {
    Event closed;
    ScriptedPeer peer([&](PeerConnection& proxy) {
      proxy.read_request();
      if (proxy.wait_closed()) closed.set();
    });
    ProxyUnderTest proxy(peer.address(), one_slot());
    RawClient client(proxy.port());
    client.send(get("/"));
    CHECK(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
    leave(client);
    CHECK(closed.wait(kSoon));
    CHECK(proxy.metric_becomes(kInflight, 0, kSoon));
  }
}

TEST_CASE("requests whose clients left say nothing about latency but those still waiting do") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (proxy.read_request()) proxy.wait_closed();  // never answers
  });
  ProxyUnderTest proxy(peer.address(), never_shed({{"dispatch", {{"concurrency", 64}}}}));
  const auto latency = [](const nlohmann::json& state) {
    return state["upstreams"][0]["signals"]["latency_p95_ms"]["value"];
  };
  std::vector<RawClient> clients;
  for (int i = 0; i < 30; ++i) clients.emplace_back(proxy.port()).send(get("/"));
  CHECK(peer.wait_until([](const auto& seen) { return seen.requests == 30; }));
  CHECK(proxy.state_becomes([&](const auto& state) { return !latency(state).is_null(); }));
  clients.clear();
  CHECK(proxy.metric_becomes(kInflight, 0));
  CHECK(proxy.state_becomes([&](const auto& state) { return latency(state).is_null(); }));
  CHECK(proxy.metric(R"(spillway_upstream_duration_seconds_count{upstream="app"})") == 0);
}

TEST_CASE("a client that leaves behind pipelined requests is noticed too") {
  Event closed;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    proxy.read_request();
    if (proxy.wait_closed()) closed.set();
  });
  ProxyUnderTest proxy(peer.address(), one_slot());
  RawClient client(proxy.port());
  client.send(get("/") + get("/") + get("/"));
  CHECK(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  client.close();
  CHECK(closed.wait(kSoon));
  CHECK(proxy.metric_becomes(kInflight, 0, kSoon));
  CHECK(peer.seen().requests == 1);
}

TEST_CASE("a client that leaves while it uploads or downloads frees its slot soon") {
  for (const bool upload : {true, false}) {
    Event closed;
    ScriptedPeer peer([&](PeerConnection& proxy) {
      proxy.read_head();
      if (!upload) proxy.send(ok(pattern(50'000'000)));
      if (proxy.wait_closed()) closed.set();
    });
    ProxyUnderTest proxy(peer.address(), one_slot());
    RawClient client(proxy.port());
    if (upload) {
      client.send(std::string_view(post("/", pattern(1'000'000))).substr(0, 200'000));
      CHECK(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
    } else {
      client.send(get("/")).read_bytes(200'000);
    }
    client.close();
    CHECK(closed.wait(kSoon));
    CHECK(proxy.metric_becomes(kInflight, 0, kSoon));
  }
}

TEST_CASE("a client that leaves while it waits for a slot is never forwarded") {
  for (const Leave leave : kWays) {
    Event go;
    ScriptedPeer peer([&](PeerConnection& proxy) {
      while (proxy.read_request()) {
        if (!proxy.wait(go)) return;
        proxy.send(ok("done"));
      }
    });
    ProxyUnderTest proxy(peer.address(), one_slot());
    const std::string depth = R"(spillway_queue_depth{upstream="app",class="P0"})";
    RawClient holder(proxy.port());
    holder.send(get("/holder"));
    CHECK(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
    RawClient leaver(proxy.port());
    leaver.send(get("/leaver"));
    CHECK(proxy.metric_becomes(depth, 1));
    leave(leaver);
    CHECK(proxy.metric_becomes(depth, 0, kSoon));
    RawClient next(proxy.port());
    next.send(get("/next"));
    CHECK(proxy.metric_becomes(depth, 1));
    go.set();
    CHECK(holder.read_response().body == "done");
    CHECK(next.read_response().body == "done");
    for (const std::string& received : peer.seen().received) {
      CHECK(received.find("/leaver") == std::string::npos);
    }
    CHECK(proxy.metric_becomes(
        R"(spillway_requests_total{route="default",class="P0",outcome="client_gone"})", 1));
  }
}

TEST_CASE("a client that does not take a small response holds no slot") {
  ScriptedPeer peer(ok(pattern(60'000)));
  ProxyUnderTest proxy(peer.address(), one_slot());
  std::vector<RawClient> dawdlers;
  for (int i = 0; i < 10; ++i) dawdlers.emplace_back(proxy.port(), 1024).send(get("/"));
  CHECK(RawClient(proxy.port()).ask(get("/")).body.size() == 60'000);
  CHECK(proxy.metric_becomes(kInflight, 0));
  for (RawClient& dawdler : dawdlers) CHECK(dawdler.read_response().body.size() == 60'000);
}

TEST_CASE("a client that does not take a large response holds the upstream back") {
  Event sent;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    proxy.read_request();
    if (proxy.send(ok(pattern(30'000'000)))) sent.set();
    proxy.wait_closed();
  });
  auto settings = one_slot();
  settings["limits"] = {{"temp_file_bytes", 0}};
  ProxyUnderTest proxy(peer.address(), settings);
  RawClient dawdler(proxy.port(), 65'536);
  dawdler.send(get("/"));
  CHECK(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  CHECK_FALSE(sent.wait(300ms));
  CHECK(proxy.metric(kInflight) == 1);
  CHECK(dawdler.read_response(Expected::response, 30s).body.size() == 30'000'000);
  CHECK(sent.wait());
}

TEST_CASE("a client that takes a response in bursts gets every byte of it") {
  const std::string body = pattern(20'000'000);
  for (const int receive_buffer : {4'096, 65'536}) {
    ScriptedPeer peer(ok(body));
    ProxyUnderTest proxy(peer.address(), one_slot());
    RawClient client(proxy.port(), receive_buffer);
    CHECK(client.send(get("/")).read_head().status() == 200);
    std::string got;
    while (got.size() < body.size()) {
      got += client.read_bytes(std::min<std::size_t>(1'000'000, body.size() - got.size()));
      std::this_thread::yield();
    }
    CHECK((got == body));
  }
}

TEST_CASE("what a client goes on to send while it is answered early is no other request") {
  const std::string body = pattern(20'000'000);
  ScriptedPeer peer([&](PeerConnection& proxy) {
    if (!proxy.read_head()) return;
    if (!proxy.read_bytes(200'000)) return;
    proxy.send(ok(body));
    proxy.wait_closed();
  });
  ProxyUnderTest proxy(peer.address(), one_slot());
  RawClient client(proxy.port(), 4'096);
  client.send("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 50000000\r\n\r\n");
  client.send(pattern(200'000));
  CHECK(client.read_head().status() == 200);
  for (int i = 0; i < 5; ++i) {
    client.try_send(get("/smuggled"), 100ms);
    client.read_bytes(1'000'000);
  }
  client.read_to_end();
  CHECK(peer.seen().connections == 1);
  CHECK(proxy.metric(
            R"(spillway_requests_total{route="default",class="P0",outcome="forwarded"})") <= 1);
}

TEST_CASE("a client that takes nothing for the idle timeout is cut off") {
  ScriptedPeer peer([&](PeerConnection& proxy) {
    proxy.read_request();
    proxy.send(ok(pattern(15'000'000)));
  });
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"idle_timeout_ms", 200}}}}));
  RawClient dawdler(proxy.port(), 1024);
  dawdler.send(get("/"));
  CHECK(proxy.metric_becomes(kInflight, 1));
  CHECK(proxy.metric_becomes(kInflight, 0));  // the rest is in a file
  CHECK(proxy.metric_becomes("spillway_temp_file_bytes", 0));
  CHECK(dawdler.read_to_end().size() < 15'000'000);
  CHECK(dawdler.was_reset());
}

}  // namespace
}  // namespace spillway::support
