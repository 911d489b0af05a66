// What clients see when the upstream is down, slow, closes too early or talks nonsense.
#include <doctest/doctest.h>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

// Reads a request, sends these bytes and closes.
ScriptedPeer::Script says(std::string bytes) {
  return [bytes = std::move(bytes)](PeerConnection& proxy) {
    if (proxy.read_request()) proxy.send(bytes);
  };
}

void check_bad_gateway(const Message& answer, std::string_view error) {
  CHECK(answer.status() == 502);
  CHECK(answer.field("Proxy-Status").value_or("").find("error=" + std::string(error)) !=
        std::string::npos);
  CHECK(answer.body.find("\"request_id\"") != std::string::npos);
}

TEST_CASE("garbage from the upstream is answered 502 and the client's connection lives") {
  struct Case {
    std::string name;
    std::string bytes;
    const char* error;
  };
  using std::string_literals::operator""s;
  const std::vector<Case> cases = {
      {"no HTTP at all", "hello\r\n\r\n", "http_protocol_error"},
      {"another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "http_protocol_error"},
      {"HTTP/2", "HTTP/2.0 200 OK\r\n\r\n", "http_protocol_error"},
      {"a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "http_protocol_error"},
      {"a bare LF", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", "http_protocol_error"},
      {"a NUL", "HTTP/1.1 200 OK\r\nX: \0\r\n\r\n"s, "http_protocol_error"},
      {"obs-fold", "HTTP/1.1 200 OK\r\nX: 1\r\n 2\r\n\r\n", "http_protocol_error"},
      {"a space before a colon", "HTTP/1.1 200 OK\r\nX : 1\r\n\r\n", "http_protocol_error"},
      {"CL and TE",
       "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "http_protocol_error"},
      {"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
       "http_protocol_error"},
      {"TE gzip", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "http_protocol_error"},
      {"an unasked upgrade", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
       "http_protocol_error"},
      {"half a head", "HTTP/1.1 200 OK\r\nContent-Le", "http_response_incomplete"},
      {"a bad first chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
       "http_response_transfer_coding"},
      {"an endless head", "HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'x'),
       "http_response_header_section_size"},
      {"nothing", "", "connection_terminated"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    ScriptedPeer peer(says(each.bytes));
    ProxyUnderTest proxy(peer.address(), never_shed());
    RawClient client(proxy.port());
    check_bad_gateway(client.ask(get("/")), each.error);
    check_bad_gateway(client.ask(get("/")), each.error);
    CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
  }
}

TEST_CASE("a response that is cut off is never presented as complete") {
  const std::string chunked_head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string large = pattern(200'000);
  for (const std::string& bytes :
       {std::string("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"),
        ok(large).substr(0, 150'000), chunked_head + "5\r\nwhole\r\n", chunked_head + "ff\r\nhalf",
        chunked_head + "5\r\nwhole\r\n0\r\n", chunked_head + "5\r\nwhole\r\nzz\r\n",
        chunked_head + chunked({large}).substr(0, 150'000)}) {
    CAPTURE(bytes.substr(0, 80));
    ScriptedPeer peer(says(bytes));
    ProxyUnderTest proxy(peer.address(), never_shed());
    RawClient client(proxy.port());
    client.send(get("/", "Connection: close\r\n"));
    std::string answer = client.read_to_end();
    if (!answer.starts_with("HTTP/1.1 502")) {
      CHECK(client.was_reset());
      CHECK_FALSE(take_message(answer, Expected::response, false));
    }
  }
}

TEST_CASE("a cut-off response without length or chunks is reset to an HTTP/1.0 client") {
  // Its end looks like a complete body: only the reset says that it is not.
  ScriptedPeer peer(says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                         chunked({pattern(300'000)}).substr(0, 250'000)));
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  client.send("GET / HTTP/1.0\r\n\r\n");
  const std::string answer = client.read_to_end();
  CHECK((answer.starts_with("HTTP/1.1 502") || client.was_reset()));
}

TEST_CASE("bytes after a response cost the connection and reach no client") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    proxy.send(ok("right") + ok("stray"));
    proxy.wait_closed();
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  for (int i = 0; i < 3; ++i) CHECK(client.ask(get("/")).body == "right");
  CHECK(peer.seen().connections == 3);
}

TEST_CASE("bytes from an idle upstream connection cost it and reach no client") {
  Event stray;
  Event closed;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    proxy.send(ok("right"));
    if (proxy.number() > 0 || !proxy.wait(stray)) return;
    proxy.send("HTTP/1.1 408 Request Timeout\r\n\r\n");
    if (proxy.wait_closed()) closed.set();
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  CHECK(client.ask(get("/")).body == "right");
  stray.set();
  CHECK(closed.wait());
  CHECK(client.ask(get("/")).body == "right");
  CHECK(peer.seen().connections == 2);
}

TEST_CASE("an upstream that is down is answered 502") {
  const RefusingPort down;
  ProxyUnderTest proxy(down.address(), never_shed());
  RawClient client(proxy.port());
  check_bad_gateway(client.ask(get("/")), "connection_refused");
  check_bad_gateway(client.ask(post("/", "body")), "connection_refused");
  CHECK(proxy.metric(R"(spillway_inflight{upstream="app"})") == 0);
  CHECK(proxy.admin("/readyz").status() == 503);
}

TEST_CASE("when one of two servers refuses the other is used") {
  const RefusingPort down;
  ScriptedPeer up(ok("up"));
  ProxyUnderTest proxy(configuration({down.address(), up.address()}, never_shed()));
  for (int i = 0; i < 6; ++i) {
    RawClient client(proxy.port());
    CHECK(client.ask(get("/")).body == "up");
    CHECK(client.ask(post("/", "body")).body == "up");
  }
}

TEST_CASE("an upstream that does not answer in time is answered 504 and its connection closed") {
  Event closed;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    if (proxy.read_request() && proxy.wait_closed()) closed.set();
  });
  ProxyUnderTest proxy(peer.address(), never_shed({{"app", {{"response_timeout_ms", 100}}}}));
  RawClient client(proxy.port());
  for (int i = 0; i < 2; ++i) {
    const Message answer = client.ask(get("/"));
    CHECK(answer.status() == 504);
    CHECK(answer.field("Proxy-Status").value_or("").find("error=http_response_timeout") !=
          std::string::npos);
  }
  CHECK(closed.wait());
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
}

TEST_CASE("an upstream that stops within a head or a body does not complete a response") {
  for (const std::string& bytes : {std::string("HTTP/1.1 200 OK\r\nX"), ok("abc").substr(0, 40)}) {
    ScriptedPeer peer([&](PeerConnection& proxy) {
      proxy.read_request();
      proxy.send(bytes);
      proxy.wait_closed();
    });
    ProxyUnderTest proxy(peer.address(), never_shed({{"app", {{"response_timeout_ms", 100}}}}));
    RawClient client(proxy.port());
    client.send(get("/", "Connection: close\r\n"));
    if (bytes.ends_with("X")) {
      CHECK(client.read_response().status() == 504);
    } else {
      std::string answer = client.read_to_end();
      CHECK((answer.starts_with("HTTP/1.1 504") || client.was_reset()));
    }
  }
}

// Answers once per connection and ends the connection when the second request has come.
ScriptedPeer::Script stale_after_one(bool reset) {
  return [reset](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    proxy.send(ok("answer"));
    if (proxy.number() == 0 && proxy.read_request() && reset) proxy.reset();
    if (proxy.number() > 0) proxy.wait_closed();
  };
}

TEST_CASE("a GET on a kept connection that turns out dead is sent once more on a fresh one") {
  for (const bool reset : {false, true}) {
    ScriptedPeer peer(stale_after_one(reset));
    ProxyUnderTest proxy(peer.address(), never_shed());
    RawClient client(proxy.port());
    CHECK(client.ask(get("/1")).body == "answer");
    CHECK(client.ask(get("/2")).body == "answer");
    const auto seen = peer.seen();
    CHECK(seen.connections == 2);
    CHECK(seen.requests == 3);
  }
}

TEST_CASE("a POST on a kept connection that turns out dead is not sent again") {
  for (const bool reset : {false, true}) {
    ScriptedPeer peer(stale_after_one(reset));
    ProxyUnderTest proxy(peer.address(), never_shed());
    RawClient client(proxy.port());
    CHECK(client.ask(get("/1")).body == "answer");
    check_bad_gateway(client.ask(post("/2", "once")), "connection_terminated");
    const auto seen = peer.seen();
    CHECK(seen.connections == 1);
    CHECK(seen.requests == 2);
  }
}

TEST_CASE(
    "without retries a request is sent twice at most and not again after bytes of an answer") {
  ScriptedPeer dead([](PeerConnection& proxy) {
    if (proxy.number() == 0 && proxy.read_request()) proxy.send(ok("answer"));
    proxy.read_request();
  });
  ProxyUnderTest proxy(dead.address(), never_shed({{"app", {{"retries", {{"attempts", 0}}}}}}));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/1")).body == "answer");
  check_bad_gateway(client.ask(get("/2")), "connection_terminated");
  CHECK(dead.seen().requests == 3);

  ScriptedPeer begun([](PeerConnection& connection) {
    if (!connection.read_request()) return;
    connection.send(ok("answer"));
    if (connection.read_request()) connection.send("HTTP/1.1 2");
  });
  ProxyUnderTest second(begun.address(), never_shed());
  RawClient other(second.port());
  CHECK(other.ask(get("/1")).body == "answer");
  check_bad_gateway(other.ask(get("/2")), "http_response_incomplete");
  CHECK(begun.seen().requests == 2);
}

TEST_CASE("a kept connection that the upstream closes is not used again") {
  ScriptedPeer peer(says(ok("answer")));
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  for (int i = 0; i < 5; ++i) {
    CHECK(client.ask(get("/")).body == "answer");
    CHECK(proxy.metric_becomes(R"(spillway_connections{side="upstream"})", 0));
    CHECK(client.ask(post("/", "body")).body == "answer");
    CHECK(proxy.metric_becomes(R"(spillway_connections{side="upstream"})", 0));
  }
  CHECK(peer.seen().requests == 10);
}

}  // namespace
}  // namespace spillway::support
