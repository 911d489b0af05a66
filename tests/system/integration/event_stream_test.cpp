// Event streams: at once, for as long as they last, and without a slot.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "system/integration/upgrade.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

constexpr const char* kInflight = R"(spillway_inflight{upstream="app"})";
constexpr const char* kStreams = R"(spillway_tunnels{kind="event_stream"})";
constexpr const char* kForwarded =
    R"(spillway_requests_total{route="default",class="P0",outcome="forwarded"})";

std::string stream_head(bool is_chunked = true) {
  return std::string("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n") +
         (is_chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
}

std::string event(int number) { return "data: " + std::to_string(number) + "\n\n"; }

std::string chunk(const std::string& text) {
  std::string size;
  for (std::size_t left = text.size(); left > 0; left /= 16)
    size.insert(size.begin(), "0123456789abcdef"[left % 16]);
  return size + "\r\n" + text + "\r\n";
}

// Answers / with "plain" and anything else with a stream of one event that goes on for ever.
void stream_on(PeerConnection& proxy) {
  while (const auto request = proxy.read_request()) {
    if (request->target() == "/") {
      if (!proxy.send(ok("plain"))) return;
      continue;
    }
    proxy.send(stream_head() + chunk(event(1)));
    proxy.wait_closed();
    return;
  }
}

RawClient open_stream(std::uint16_t port) {
  RawClient client(port);
  CHECK(client.send(get("/events")).read_head().status() == 200);
  CHECK(client.read_bytes(chunk(event(1)).size()) == chunk(event(1)));
  return client;
}

TEST_CASE("events arrive one by one as soon as they are sent") {
  for (const bool is_chunked : {true, false}) {
    CAPTURE(is_chunked);
    std::array<Event, 10> seen;
    ScriptedPeer peer([&](PeerConnection& proxy) {
      if (!proxy.read_request() || !proxy.send(stream_head(is_chunked))) return;
      for (int i = 0; i < 10; ++i) {
        proxy.send(is_chunked ? chunk(event(i)) : event(i));
        if (!proxy.wait(seen[i])) return;
      }
      if (is_chunked) proxy.send("0\r\n\r\n");
    });
    ProxyUnderTest proxy(peer.address(), never_shed());
    RawClient client(proxy.port());
    CHECK(client.send(get("/events")).read_head().status() == 200);
    for (int i = 0; i < 10; ++i) {
      const std::string expected = is_chunked ? chunk(event(i)) : event(i);
      CHECK(client.read_bytes(expected.size()) == expected);
      seen[i].set();
    }
    if (is_chunked) {
      CHECK(client.read_bytes(5) == "0\r\n\r\n");
      CHECK(proxy.metric_becomes(ended("finished", "event_stream"), 1));
      client.send(get("/events"));  // the connection goes on
      CHECK(client.read_head().status() == 200);
    } else {
      CHECK(client.read_to_end().empty());
      CHECK_FALSE(client.was_reset());
      CHECK(proxy.metric_becomes(ended("finished", "event_stream"), 1));
    }
  }
}

TEST_CASE("event streams hold no slot and no connection that requests may need") {
  ScriptedPeer peer(stream_on);
  ProxyUnderTest proxy(peer.address(), one_slot());
  std::vector<RawClient> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(open_stream(proxy.port()));
  CHECK(proxy.metric(kStreams) == 20);
  CHECK(proxy.metric(kInflight) == 0);
  CHECK(proxy.state()["tunnels"]["event_stream"] == 20);
  for (int i = 0; i < 5; ++i) CHECK(RawClient(proxy.port()).ask(get("/")).body == "plain");
}

TEST_CASE("an answer to a POST holds its slot whatever its type") {
  ScriptedPeer peer(stream_on);
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  CHECK(client.send(post("/generate", "words")).read_head().status() == 200);
  CHECK(proxy.metric(kInflight) == 1);
  CHECK(proxy.metric(kStreams) == 0);
}

TEST_CASE("a client that leaves an event stream is noticed and the upstream connection closed") {
  Event closed;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    proxy.send(stream_head() + chunk(event(1)));
    if (proxy.wait_closed()) closed.set();
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  open_stream(proxy.port()).close();
  CHECK(closed.wait(kSoon));
  CHECK(proxy.metric_becomes(kStreams, 0));
  CHECK(proxy.metric_becomes(kForwarded, 1));
  CHECK(proxy.metric(ended("finished", "event_stream")) == 1);
}

TEST_CASE("event streams and tunnels share one limit") {
  Event closed;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    const auto request = proxy.read_request();
    if (!request) return;
    proxy.send(request->target() == "/chat" ? kSwitching : stream_head() + chunk(event(1)));
    if (proxy.wait_closed() && request->target() == "/refused") closed.set();
  });
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"tunnels", 2}}}}));
  RawClient tunnel = open_tunnel(proxy.port(), "/chat", "127.0.0.2");
  RawClient stream = open_stream(proxy.port());
  const Message refusal = RawClient(proxy.port()).ask(get("/refused"));
  CHECK(refusal.status() == 503);
  CHECK(refusal.body.find("TUNNEL_LIMIT") != std::string::npos);
  CHECK(closed.wait(kSoon));
  CHECK(proxy.metric(asked("refused", "event_stream")) == 1);
  CHECK(proxy.metric(kInflight) == 0);
  stream.close();
  CHECK(proxy.metric_becomes(kStreams, 0));
  const RawClient another = open_stream(proxy.port());
}

TEST_CASE("a silent event stream outlasts the response timeout but not the idle timeout") {
  Event go;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    if (!proxy.read_request() || !proxy.send(stream_head() + chunk(event(1)))) return;
    if (!proxy.wait(go)) return;
    proxy.send(chunk(event(2)));
    proxy.wait_closed();
  });
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"tunnel_idle_timeout_ms", 800}}},
                                                   {"app", {{"response_timeout_ms", 100}}}}));
  RawClient client = open_stream(proxy.port());
  CHECK_FALSE(client.has_bytes(400ms));
  go.set();
  CHECK(client.read_bytes(chunk(event(2)).size()) == chunk(event(2)));
  client.read_to_end();
  CHECK(client.was_reset());  // nobody takes it for the whole
  CHECK(proxy.metric_becomes(ended("idle", "event_stream"), 1));
  CHECK(proxy.metric_becomes(kForwarded, 1));
}

TEST_CASE("event streams say nothing about latency and their lives are no request durations") {
  ScriptedPeer peer(stream_on);
  ProxyUnderTest proxy(peer.address(), never_shed());
  {
    RawClient client = open_stream(proxy.port());
    CHECK_FALSE(client.has_bytes(600ms));
  }
  check_counted_without_its_life(proxy);
}

TEST_CASE("a stream whose first event keeps its head waiting is no sign of latency") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (proxy.read_request()) proxy.wait_closed();
  });
  ProxyUnderTest proxy(peer.address(), never_shed({{"dispatch", {{"concurrency", 64}}}}));
  const auto latency = [](const nlohmann::json& state) {
    return state["upstreams"][0]["signals"]["latency_p95_ms"]["value"];
  };
  std::vector<RawClient> clients;
  for (int i = 0; i < 30; ++i)
    clients.emplace_back(proxy.port()).send(get("/", "Accept: text/event-stream\r\n"));
  CHECK(proxy.metric_becomes(kInflight, 30));
  CHECK_FALSE(
      proxy.state_becomes([&](const auto& state) { return !latency(state).is_null(); }, 500ms));
  for (int i = 0; i < 30; ++i) clients.emplace_back(proxy.port()).send(get("/"));
  CHECK(proxy.state_becomes([&](const auto& state) { return !latency(state).is_null(); }));
}

TEST_CASE("an event stream is not stored and has no followers") {
  ScriptedPeer peer(stream_on);
  ProxyUnderTest proxy(peer.address(), everything_stored());
  RawClient one = open_stream(proxy.port());
  RawClient two = open_stream(proxy.port());
  CHECK(peer.seen().requests == 2);
  CHECK(proxy.metric(kStreams) == 2);
}

TEST_CASE("streams that break off do not make the upstream look broken") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    const auto request = proxy.read_request();
    if (!request) return;
    proxy.send(stream_head() + chunk(event(1)));
    if (request->target() == "/events") proxy.reset();
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  for (int i = 0; i < 40; ++i) {
    RawClient client(proxy.port());
    client.send(get("/events")).read_to_end();
  }
  CHECK(proxy.metric_becomes(kStreams, 0));
  const nlohmann::json state = proxy.state();
  CHECK(state["upstreams"][0]["state"] == "NORMAL");
}

TEST_CASE("a stream that ends before the request's body leaves no rest that could be a request") {
  Event started;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    const auto head = proxy.read_head();
    if (!head || head->target() != "/events") return;  // what was smuggled
    proxy.send(stream_head() + chunk(event(1)));
    if (proxy.wait(started)) proxy.send("0\r\n\r\n");
    proxy.wait_closed();
  });
  ProxyUnderTest proxy(peer.address(), streamed());
  RawClient client(proxy.port());
  const std::string part(70000, 'x');
  client.send("GET /events HTTP/1.1\r\nHost: a\r\nContent-Length: 80000\r\n\r\n" + part);
  CHECK(client.read_head().status() == 200);
  CHECK(client.read_bytes(chunk(event(1)).size()) == chunk(event(1)));
  started.set();
  CHECK(client.read_bytes(5) == "0\r\n\r\n");
  client.try_send(get("/smuggled"));
  CHECK(client.read_to_end() == "");
  CHECK(peer.seen().requests == 1);
}

TEST_CASE("a client that is gone before the stream's head ends the stream") {
  Event gone;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    if (proxy.wait(gone)) proxy.send(stream_head() + chunk(event(1)));
    proxy.wait_closed();
  });
  ProxyUnderTest proxy(peer.address());
  {
    RawClient client(proxy.port());
    client.send(get("/events"));
    REQUIRE(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  }
  gone.set();
  CHECK(proxy.metric_becomes(kStreams, 0));
  CHECK(proxy.metric_becomes(kInflight, 0));
}

// Streams to each request but "/", and looks at no client that leaves. It sends the head of /late
// when it is told to, and at the end of each stream writes until that fails.
struct DeafBackend {
  std::counting_semaphore<> heads{0};
  Event end;
  std::atomic<int> noticed{0};  // streams of which a write has failed
  bool writes_at_end = false;
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->target() == "/") {
        if (!proxy.send(ok("plain"))) return;
        continue;
      }
      if (request->target() == "/late" && !heads.try_acquire_for(kPatience)) return;
      proxy.send(stream_head() + chunk(event(1)));
      if (!proxy.wait(end) || !writes_at_end) return;
      const Deadline deadline;
      while (!deadline.passed() && proxy.send(chunk(event(2)))) std::this_thread::yield();
      ++noticed;
      return;
    }
  }};
  bool is_asked(std::size_t times) const {
    return peer.wait_until([=](const auto& seen) { return seen.requests == times; });
  }
};
constexpr const char* kWantsEvents = "Accept: text/event-stream\r\n";

// Asks for a stream whose head is held back, and leaves.
void leave_early(const ProxyUnderTest& proxy, DeafBackend& backend, std::string_view lines) {
  {
    RawClient client(proxy.port());
    client.send(get("/late", lines));
    REQUIRE(proxy.metric_becomes(kInflight, 1));
    REQUIRE(backend.is_asked(backend.peer.seen().connections));
  }
  CHECK(proxy.metric_becomes("spillway_abandoned_requests", 1));
  CHECK(proxy.metric(kInflight) == 1);  // the control: nothing says yet that it is one
  backend.heads.release();
  CHECK(proxy.metric_becomes(kInflight, 0));
  CHECK(proxy.metric("spillway_abandoned_requests") == 0);
}

TEST_CASE("a stream whose client has left counts until its upstream closes it") {
  DeafBackend backend;
  ProxyUnderTest proxy(backend.peer.address(), never_shed({{"limits", {{"tunnels", 1}}}}));
  open_stream(proxy.port()).close();
  CHECK(proxy.metric_becomes(R"(spillway_connections{side="client"})", 0));
  CHECK(proxy.metric(kStreams) == 1);
  CHECK(RawClient(proxy.port()).ask(get("/events", kWantsEvents)).status() == 503);
  CHECK(backend.peer.requests() == 1);  // the upstream is not at work on what was refused
  CHECK(proxy.metric(ended("finished", "event_stream")) == 0);
  backend.end.set();
  CHECK(proxy.metric_becomes(ended("finished", "event_stream"), 1));
  CHECK(proxy.metric(kStreams) == 0);
  const RawClient another = open_stream(proxy.port());
}

TEST_CASE("an upstream that writes to a client that has left notices, and counts meanwhile") {
  DeafBackend backend;
  backend.writes_at_end = true;
  ProxyUnderTest proxy(backend.peer.address(), never_shed({{"limits", {{"tunnels", 1}}}}));
  open_stream(proxy.port()).close();
  CHECK(proxy.metric_becomes(R"(spillway_connections{side="client"})", 0));
  backend.end.set();
  const Deadline deadline;
  while (backend.noticed == 0 && !deadline.passed()) std::this_thread::yield();
  CHECK(backend.noticed == 1);
  CHECK(proxy.metric(kStreams) == 1);
}

TEST_CASE("a stream whose client leaves before its head holds no slot from the head on") {
  DeafBackend backend;
  json settings = one_slot();
  settings["limits"]["tunnels"] = 1;
  ProxyUnderTest proxy(backend.peer.address(), settings);
  SUBCASE("which the client did not announce") {
    leave_early(proxy, backend, "");
    CHECK(proxy.metric(asked("opened", "event_stream")) == 0);
  }
  SUBCASE("which it did: it counts as a stream") {
    leave_early(proxy, backend, kWantsEvents);
    CHECK(proxy.metric(kStreams) == 1);
    CHECK(RawClient(proxy.port()).ask(get("/events", kWantsEvents)).status() == 503);
    CHECK(backend.peer.requests() == 1);
    backend.end.set();
    CHECK(proxy.metric_becomes(ended("finished", "event_stream"), 1));
  }
  const RawClient another = open_stream(proxy.port());
}

TEST_CASE("streams that were left before their heads use up no connection that requests need") {
  DeafBackend backend;
  ProxyUnderTest proxy(backend.peer.address(), one_slot());
  for (int n = 0; n < 4; ++n) leave_early(proxy, backend, kWantsEvents);
  CHECK(proxy.metric(kStreams) == 4);
  CHECK(RawClient(proxy.port()).ask(get("/")).body == "plain");
}

TEST_CASE("a stream that is refused at its head holds no slot") {
  DeafBackend backend;
  json settings = one_slot();
  settings["limits"]["tunnels"] = 0;
  ProxyUnderTest proxy(backend.peer.address(), settings);
  CHECK(RawClient(proxy.port()).ask(get("/events")).status() == 503);
  CHECK(proxy.metric_becomes(kInflight, 0));
  CHECK(backend.peer.requests() == 1);
  CHECK(RawClient(proxy.port()).ask(get("/events", kWantsEvents)).status() == 503);
  CHECK(backend.peer.requests() == 1);
  CHECK(proxy.metric(asked("refused", "event_stream")) == 2);
}

TEST_CASE("a request that asks for events and gets another response uses up no stream") {
  ScriptedPeer peer(stream_on);
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"tunnels", 1}}}}));
  RawClient client(proxy.port());
  for (int i = 0; i < 3; ++i) CHECK(client.ask(get("/", kWantsEvents)).body == "plain");
  CHECK(proxy.metric(asked("declined", "event_stream")) == 3);
  CHECK(proxy.metric(kStreams) == 0);
  const RawClient stream = open_stream(proxy.port());
}

}  // namespace
}  // namespace spillway::support
