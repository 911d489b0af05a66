// Connections on both sides: kept, reused, answered in order, closed when they must be.
#include <doctest/doctest.h>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

// Answers with what was asked for.
void echo_target(PeerConnection& proxy) {
  while (const auto request = proxy.read_request()) {
    if (!proxy.send(ok(request->method() + " " + request->target()))) return;
  }
}

TEST_CASE("requests of one client use one connection to the upstream") {
  ScriptedPeer peer(echo_target);
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  for (int i = 0; i < 10; ++i) CHECK(client.ask(get("/")).body == "GET /");
  CHECK(client.ask(post("/", "body")).body == "POST /");
  CHECK(peer.seen().connections == 1);
  CHECK(peer.seen().requests == 11);
}

TEST_CASE("an empty line after a request leaves the connection idle") {
  ScriptedPeer peer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"header_timeout_ms", 100}}}}));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/") + "\r\n").status() == 200);
  CHECK_FALSE(client.is_closed(300ms));  // more than the timeout
  CHECK(client.ask(get("/")).status() == 200);
}

TEST_CASE("an upstream's stray answer is given to no client") {
  Event stray_sent, ask_again;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    const bool first = proxy.number() == 0;
    while (proxy.read_request()) {
      proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright");
      if (!first) continue;
      proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong");
      stray_sent.set();
    }
  });
  ProxyUnderTest proxy(peer.address(), never_shed({{"workers", 1}}));
  RawClient client(proxy.port()), other(proxy.port());
  CHECK(client.ask(get("/")).body == "right");
  CHECK(stray_sent.wait());
  CHECK(other.ask(get("/")).body == "right");
  CHECK(peer.seen().connections == 2);
}

TEST_CASE("many clients over several workers get their own answers") {
  ScriptedPeer peer(echo_target);
  ProxyUnderTest proxy(peer.address(), never_shed({{"workers", 4}}));
  std::vector<RawClient> clients;
  for (int i = 0; i < 40; ++i) clients.emplace_back(proxy.port());
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < clients.size(); ++i) clients[i].send(get("/" + std::to_string(i)));
    for (std::size_t i = 0; i < clients.size(); ++i) {
      CHECK(clients[i].read_response().body == "GET /" + std::to_string(i));
    }
  }
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
}

TEST_CASE("pipelined requests are answered in order") {
  ScriptedPeer peer(echo_target);
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  std::string all;
  for (int i = 0; i < 100; ++i) {
    const std::string number = std::to_string(i);
    switch (i % 3) {
      case 0: all += get("/" + number); break;
      case 1: all += post("/" + number, std::string(static_cast<std::size_t>(i), 'b')); break;
      case 2:
        all += "PUT /" + number +
               " HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n" +
               chunked({"some ", "body"});
    }
  }
  client.send(all);
  const char* const methods[] = {"GET", "POST", "PUT"};
  for (int i = 0; i < 100; ++i) {
    CHECK(client.read_response().body == std::string(methods[i % 3]) + " /" + std::to_string(i));
  }
  CHECK(peer.seen().requests == 100);
}

TEST_CASE("Connection close from the client is honoured and not passed on") {
  ScriptedPeer peer(echo_target);
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  const Message answer = client.ask(get("/", "Connection: close\r\n"));
  CHECK(answer.status() == 200);
  CHECK(answer.field("Connection") == "close");
  CHECK(client.is_closed());
  CHECK(RawClient(proxy.port()).ask(get("/")).status() == 200);
  CHECK(peer.seen().received[0].find("close") == std::string::npos);
}

TEST_CASE("a client that ends its connection between requests is let go") {
  ScriptedPeer peer(echo_target);
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  CHECK(client.ask(get("/")).status() == 200);
  CHECK(proxy.metric_becomes(R"(spillway_connections{side="client"})", 1));
  client.close();
  CHECK(proxy.metric_becomes(R"(spillway_connections{side="client"})", 0));
}

TEST_CASE("Connection close from the upstream ends that connection only") {
  ScriptedPeer peer(ok("bye", "Connection: close\r\n"));
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  for (int i = 0; i < 3; ++i) {
    const Message answer = client.ask(get("/"));
    CHECK(answer.body == "bye");
    CHECK_FALSE(answer.field("Connection"));
  }
  CHECK(peer.seen().connections == 3);
}

TEST_CASE("an HTTP/1.0 upstream is kept only when it says so") {
  for (const bool kept : {false, true}) {
    const std::string lines = kept ? "Connection: keep-alive\r\n" : "";
    ScriptedPeer peer("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n" + lines + "\r\nhi");
    ProxyUnderTest proxy(peer.address(), never_shed());
    RawClient client(proxy.port());
    for (int i = 0; i < 3; ++i) {
      const Message answer = client.ask(get("/"));
      CHECK(answer.start_line == "HTTP/1.1 200 OK");
      CHECK(answer.field("Via") == "1.0 spillway");
      CHECK(answer.body == "hi");
    }
    CHECK(peer.seen().connections == (kept ? 1 : 3));
  }
}

TEST_CASE("an HTTP/1.0 client is answered and closed unless it asks to stay") {
  ScriptedPeer peer(echo_target);
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  const Message kept = client.ask("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CHECK(kept.body == "GET /1");
  CHECK(kept.field("Connection") == "keep-alive");
  CHECK(client.ask("GET /2 HTTP/1.0\r\n\r\n").body == "GET /2");
  CHECK(client.is_closed());
  CHECK(peer.seen().received[0].starts_with("GET /1 HTTP/1.1\r\nHost: " + peer.address()));
}

TEST_CASE("a chunked response reaches an HTTP/1.0 client without its chunks and ends with it") {
  ScriptedPeer peer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                    chunked({"one ", "two ", "three"}, "Sum: 3\r\n"));
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const Message head = client.read_head();
  CHECK_FALSE(head.field("Transfer-Encoding"));
  CHECK(head.field("Connection") == "close");
  CHECK(client.read_to_end() == "one two three");
  CHECK_FALSE(client.was_reset());
}

TEST_CASE("an HTTP/1.0 client gets each chunk as it comes though its frame is cut off") {
  Event got_first;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    proxy.read_request();
    proxy.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none");
    if (!proxy.wait(got_first)) return;
    // The next read begins with what has no content.
    proxy.send("\r\n");
    proxy.send("0\r\n\r\n");
    proxy.read_request();
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  client.send("GET / HTTP/1.0\r\n\r\n").read_head();
  CHECK(client.read_bytes(3) == "one");
  got_first.set();
  CHECK(client.read_to_end() == "");
  CHECK_FALSE(client.was_reset());
}

TEST_CASE("a large chunked response reaches an HTTP/1.0 client byte for byte") {
  const std::string body = pattern(3'000'000);
  std::vector<std::string> parts;
  for (std::size_t at = 0, size = 1; at < body.size(); at += size, size = size * 3 % 70'001) {
    parts.push_back(body.substr(at, size));
  }
  ScriptedPeer peer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(parts));
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  client.send("GET / HTTP/1.0\r\n\r\n").read_head();
  CHECK((client.read_to_end() == body));
}

TEST_CASE("a response that ends with its connection is passed on whole and ends the client's") {
  const std::string body = pattern(500'000);
  ScriptedPeer peer([&](PeerConnection& proxy) {
    proxy.read_request();
    proxy.send("HTTP/1.1 200 OK\r\n\r\n" + body);
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  client.send(get("/"));
  CHECK(client.read_head().field("Connection") == "close");
  CHECK((client.read_to_end() == body));
  CHECK_FALSE(client.was_reset());
}

TEST_CASE("a POST does not go out on a connection that was idle for a second") {
  ScriptedPeer peer(echo_target);
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  CHECK(client.ask(get("/")).status() == 200);
  CHECK(client.ask(post("/", "fresh enough")).status() == 200);
  CHECK(peer.seen().connections == 1);
  CHECK_FALSE(client.has_bytes(1050ms));
  CHECK(client.ask(post("/", "on a fresh one")).status() == 200);
  CHECK(peer.seen().connections == 2);
  CHECK_FALSE(client.has_bytes(1050ms));
  CHECK(client.ask(get("/")).status() == 200);
  CHECK(peer.seen().connections == 2);
}

}  // namespace
}  // namespace spillway::support
