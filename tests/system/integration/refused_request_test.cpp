// Requests that are refused: with which status, what becomes of the connection, and that the
// upstream never hears of them.
#include <doctest/doctest.h>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

struct Trap {
  std::string name;
  int status;
  std::string bytes;
};

std::string with(std::string_view lines, std::string_view rest = {}) {
  return std::string("POST / HTTP/1.1\r\nHost: a.example\r\n")
      .append(lines)
      .append("\r\n")
      .append(rest);
}

std::vector<Trap> traps() {
  // What a party that frames the request otherwise would take for the next one.
  const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n";
  using std::string_literals::operator""s;
  return {
      {"TE gzip", 400, with("Transfer-Encoding: gzip\r\n", smuggled)},
      {"TE chunked, gzip", 400, with("Transfer-Encoding: chunked, gzip\r\n", smuggled)},
      {"TE gzip, chunked", 501, with("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")},
      {"TE gzip and CL", 400,
       with("Transfer-Encoding: gzip\r\nContent-Length: 3\r\n", "abc" + smuggled)},
      {"TE and CL", 400,
       with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n" + smuggled)},
      {"CL and TE", 400,
       with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + smuggled)},
      {"TE twice", 400,
       with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
      {"TE with a space before the colon", 400,
       with("Transfer-Encoding : chunked\r\n", "0\r\n\r\n")},
      {"TE behind a vertical tab", 400,
       with("Transfer-Encoding: \x0b"
            "chunked\r\n",
            "0\r\n\r\n")},
      {"TE in HTTP/1.0", 400,
       "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
      {"CL twice", 400, with("Content-Length: 3\r\nContent-Length: 3\r\n", "abc")},
      {"CL twice and different", 400, with("Content-Length: 0\r\nContent-Length: 3\r\n", "abc")},
      {"CL list", 400, with("Content-Length: 3, 3\r\n", "abc")},
      {"CL signed", 400, with("Content-Length: +3\r\n", "abc")},
      {"CL negative", 400, with("Content-Length: -1\r\n", "abc")},
      {"CL hexadecimal", 400, with("Content-Length: 0x3\r\n", "abc")},
      {"CL beyond 64 bits", 400, with("Content-Length: 18446744073709551619\r\n", "abc")},
      {"no Host", 400, "GET / HTTP/1.1\r\n\r\n"},
      {"two Hosts", 400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
      {"invalid Host", 400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"},
      {"obs-fold", 400, "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n"},
      {"bare LF", 400, "GET / HTTP/1.1\nHost: a\n\n"},
      {"bare CR", 400, "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r2\r\n\r\n"},
      {"NUL in a value", 400, "GET / HTTP/1.1\r\nHost: a\r\nX: 1\0002\r\n\r\n"s},
      {"NUL first", 400, "\0GET / HTTP/1.1\r\n\r\n"s},
      {"a field without a name", 400, "GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n"},
      {"a field without a colon", 400, "GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n"},
      {"a space in a target", 400, "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"HTTP/0.9", 400, "GET /\r\n\r\n"},
      {"a method that is no token", 400, "G@T / HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"a TLS hello", 400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 and so on\r\n\r\n"s},
      {"a chunk size that is none", 400, with("Transfer-Encoding: chunked\r\n", "x\r\n")},
      {"a chunk size with 0x", 400,
       with("Transfer-Encoding: chunked\r\n", "0x3\r\nabc\r\n0\r\n\r\n")},
      {"a chunk size beyond 64 bits", 400,
       with("Transfer-Encoding: chunked\r\n", "10000000000000000\r\n")},
      {"a bare LF after a chunk size", 400,
       with("Transfer-Encoding: chunked\r\n", "3\nabc\r\n0\r\n\r\n")},
      {"a bare LF in a chunk extension", 400,
       with("Transfer-Encoding: chunked\r\n", "3;a=\"\n\"\r\nabc\r\n0\r\n\r\n")},
      {"a chunk that is too long", 400,
       with("Transfer-Encoding: chunked\r\n", "3\r\nabcd\r\n0\r\n\r\n")},
      {"a trailer that frames", 400,
       with("Transfer-Encoding: chunked\r\n", "0\r\nContent-Length: 5\r\n\r\n")},
      {"CONNECT", 405, "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n"},
      {"TRACE", 405, "TRACE / HTTP/1.1\r\nHost: a.example\r\n\r\n"},
      {"an expectation that is none", 417, with("Expect: wonders\r\nContent-Length: 3\r\n", "abc")},
      {"HTTP/2.0", 505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"},
      {"the preface of HTTP/2", 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
      {"a long target", 414, get("/" + std::string(9000, 'a'))},
      {"a long head", 431, get("/", "X: " + std::string(70'000, 'x') + "\r\n")},
      {"many fields", 431,
       [] {
         std::string lines;
         for (int i = 0; i < 200; ++i) lines += "X: 1\r\n";
         return get("/", lines);
       }()},
      {"a large body", 413, with("Content-Length: 104857601\r\n")},
  };
}

TEST_CASE("a request that two parties could read differently is refused and goes nowhere") {
  ScriptedPeer peer(ok("x"));
  ProxyUnderTest proxy(peer.address(), never_shed());
  for (const Trap& trap : traps()) {
    CAPTURE(trap.name);
    RawClient client(proxy.port());
    client.try_send(trap.bytes);
    const Message answer = client.read_response();
    CHECK(answer.status() == trap.status);
    CHECK(answer.field("Connection") == "close");
    CHECK(answer.field("Content-Type").value_or("").starts_with("application/problem+json"));
    CHECK(answer.field("Proxy-Status").value_or("").starts_with("spillway; error="));
    client.half_close();
    CHECK(client.is_closed());
    CHECK_FALSE(client.was_reset());
  }
  CHECK(peer.seen().connections == 0);
}

TEST_CASE("a broken chunk after a good beginning never completes a request upstream") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (proxy.read_request()) proxy.send(ok("complete"));
  });
  ProxyUnderTest proxy(peer.address(), streamed());
  RawClient client(proxy.port());
  client.send(
      with("Transfer-Encoding: chunked\r\n", "20000\r\n" + std::string(0x20000, 'a') + "\r\n"));
  CHECK(peer.wait_until([](const auto& seen) { return seen.connections == 1; }));
  client.send("zz\r\n");
  CHECK(client.read_response().status() == 400);
  CHECK(client.is_closed());
  CHECK(peer.wait_until([](const auto& seen) { return seen.open == 0; }));
  CHECK(peer.seen().requests == 0);
}

TEST_CASE("a chunked body over the limit is refused as soon as it is") {
  ScriptedPeer peer([](PeerConnection& proxy) { proxy.read_request(); });
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"body_bytes", 1000}}}}));
  RawClient client(proxy.port());
  client.send(with("Transfer-Encoding: chunked\r\n", "200\r\n" + std::string(0x200, 'a') + "\r\n"));
  client.send("200\r\n" + std::string(0x200, 'a') + "\r\n");
  CHECK(client.read_response().status() == 413);
  CHECK(client.is_closed());
  CHECK(peer.seen().requests == 0);
}

TEST_CASE("a head that does not arrive in time is answered 408") {
  ScriptedPeer peer(ok("x"));
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"header_timeout_ms", 100}}}}));
  RawClient client(proxy.port());
  client.send("GET / HTTP/1.1\r\nHost: a");
  const Message answer = client.read_response();
  CHECK(answer.status() == 408);
  CHECK(answer.field("Connection") == "close");
  CHECK(client.is_closed());
  CHECK(peer.seen().connections == 0);
}

TEST_CASE("a body that stops arriving is answered 408 whether it is small or streamed") {
  for (const std::size_t size : {1'000, 1'000'000}) {
    CAPTURE(size);
    ScriptedPeer peer([](PeerConnection& proxy) { proxy.read_request(); });
    ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"idle_timeout_ms", 100}}}}));
    const std::string begun = post("/", pattern(size)).substr(0, 500);  // takes its time
    RawClient client(proxy.port());
    client.send(begun);
    CHECK(client.read_response().status() == 408);
    CHECK(client.is_closed());
    CHECK(peer.wait_until([](const auto& seen) { return seen.open == 0; }));
    CHECK(peer.seen().requests == 0);
  }
}

TEST_CASE("an idle connection is closed without a word") {
  ScriptedPeer peer(ok("x"));
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"idle_timeout_ms", 100}}}}));
  RawClient silent(proxy.port());
  RawClient client(proxy.port());
  CHECK(client.ask(get("/")).status() == 200);
  CHECK(client.is_closed());
  CHECK(silent.is_closed());
  CHECK_FALSE(client.was_reset());
}

// One slot, held; whoever else comes is refused at once.
struct Busy {
  Busy()
      : peer([this](PeerConnection& connection) {
          while (connection.read_request()) {
            if (!connection.wait(go)) return;
            connection.send(ok("done"));
          }
        }),
        proxy(peer.address(), {{"dispatch", {{"concurrency", 1}}},
                               {"classes", {{{"name", "only"}, {"max_wait_ms", 0}}}},
                               {"default_route", {{"class", "only"}, {"request_buffering", "off"}}},
                               {"overload", {{"rules", {{"only", {{"strategy", "allow"}}}}}}}}),
        holder(proxy.port()) {
    holder.send(get("/"));
    CHECK(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  }

  Event go;
  ScriptedPeer peer;
  ProxyUnderTest proxy;
  RawClient holder;
};

TEST_CASE("a denied request without or with a small body keeps its connection") {
  Busy busy;
  RawClient client(busy.proxy.port());
  for (int i = 0; i < 3; ++i) {
    CHECK(client.ask(get("/")).status() == 503);
    const Message answer = client.ask(post("/", pattern(60'000)));
    CHECK(answer.status() == 503);
    CHECK(answer.field("Retry-After"));
    CHECK_FALSE(answer.field("Connection"));
  }
  busy.go.set();
  CHECK(busy.holder.read_response().body == "done");
  CHECK(client.ask(get("/")).body == "done");
}

TEST_CASE(
    "a denied request with a large body is answered before its end and closed without a reset") {
  Busy busy;
  RawClient client(busy.proxy.port());
  const std::string request = post("/", pattern(1'000'000));
  client.send(std::string_view(request).substr(0, 70'000));
  const Message answer = client.read_response();
  CHECK(answer.status() == 503);
  CHECK(answer.field("Connection") == "close");
  client.try_send(std::string_view(request).substr(70'000, 10'000));
  client.half_close();
  CHECK(client.is_closed());
  CHECK_FALSE(client.was_reset());
  CHECK(busy.peer.seen().connections == 1);
}

TEST_CASE("a request that expects 100-continue may be denied by the gate after it") {
  Busy busy;
  RawClient client(busy.proxy.port());
  client.send(
      "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 8\r\nExpect: 100-continue\r\n\r\n");
  CHECK(client.read_response().status() == 100);
  const Message answer = client.ask("the body");
  CHECK(answer.status() == 503);
  CHECK_FALSE(answer.field("Connection"));
  CHECK(busy.peer.seen().connections == 1);
}

TEST_CASE("a request behind a refused one on the same connection is answered too") {
  Busy busy;
  RawClient client(busy.proxy.port());
  client.send(post("/", "small") + get("/") + "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n");
  CHECK(client.read_response().status() == 503);
  CHECK(client.read_response().status() == 503);
  CHECK(client.read_response().status() == 405);
  CHECK(client.is_closed());
}

}  // namespace
}  // namespace spillway::support
