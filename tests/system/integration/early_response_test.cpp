// Responses that are complete before their requests are.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

const std::string kStart = pattern(100'000);  // of the request's body

std::string counted() {
  return "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 150000\r\n\r\n" + kStart;
}
std::string in_chunks() {
  return "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n" +
         kStart + "\r\n";
}

// The head goes on while the body is not known to be left unread; the second half of the response
// comes with the end of the connection.
struct EarlyUpstream {
  EarlyUpstream()
      : peer([this](PeerConnection& proxy) {
          const auto head = proxy.read_head();
          if (!head) return;
          if (head->method() == "GET") {
            proxy.send(ok("next"));
            return;
          }
          proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfi");
          if (is_read.wait()) proxy.send("ne");
        }) {}

  // The client has its response, and its request has not ended.
  void answer(RawClient& client, std::string_view request) {
    const Message head = client.send(request).read_head();
    CHECK(head.status() == 200);
    CHECK_FALSE(head.field("Connection"));
    CHECK(client.read_bytes(2) == "fi");
    is_read.set();
    CHECK(client.read_bytes(2) == "ne");
  }

  Event is_read;
  ScriptedPeer peer;
};

TEST_CASE("an early whole answer says that the connection ends") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    proxy.read_head();
    proxy.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    proxy.wait_closed();
  });
  ProxyUnderTest proxy(peer.address(), streamed());
  RawClient client(proxy.port());
  client.send(std::string_view(post("/", pattern(1'000'000))).substr(0, 100'000));
  CHECK(client.read_response().field("Connection") == "close");
}

TEST_CASE("behind a body that the upstream did not wait for the next request is found") {
  const std::string rest = pattern(50'000);
  struct {
    std::string begin, end;
  } const requests[] = {{counted(), rest},
                        {in_chunks(), "c350\r\n" + rest + "\r\n0\r\nX-Sum: 1\r\n\r\n"}};
  for (const auto& request : requests) {
    EarlyUpstream upstream;
    ProxyUnderTest proxy(upstream.peer.address(), streamed());
    RawClient client(proxy.port());
    upstream.answer(client, request.begin);
    client.send(std::string_view(request.end).substr(0, 10'000));
    client.send(request.end.substr(10'000) + get("/1"));
    CHECK(client.read_response().body == "next");
    CHECK(client.ask(get("/2")).body == "next");
  }
}

TEST_CASE("the rest of an answered body is waited for no longer than for another one") {
  EarlyUpstream upstream;
  ProxyUnderTest proxy(upstream.peer.address(), streamed({{"limits", {{"idle_timeout_ms", 200}}}}));
  RawClient client(proxy.port());
  upstream.answer(client, counted());
  CHECK(client.is_closed());
}

TEST_CASE("an answered body that breaks the framing ends the connection") {
  for (const char* const rest : {"zz\r\n", "0\r\nContent-Length: 1\r\n\r\n"}) {
    EarlyUpstream upstream;
    ProxyUnderTest proxy(upstream.peer.address(), streamed());
    RawClient client(proxy.port());
    upstream.answer(client, in_chunks());
    client.send(rest + get("/1"));
    client.read_to_end();
    CHECK(upstream.peer.seen().requests == 1);
  }
}

}  // namespace
}  // namespace spillway::support
