#include "http/outgoing/rewrite.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "unit/http/requests.hpp"

using namespace spillway;
using namespace spillway::http;

namespace {

std::string relay(const std::string& text, const ForwardedResponse& with, Verb method = Verb::get) {
  ResponseHead head;
  REQUIRE(read_response(text, method, head) == Error::none);
  std::string block(text.size() + kRewriteRoom, '\0');
  TextWriter out(block);
  REQUIRE(write_response_head(out, head, with));
  return std::string(out.text());
}

}  // namespace

TEST_CASE("a request goes on with its fields byte for byte and the proxy's own") {
  const std::string text =
      "GET /a%2Fb//c?q=%zz&r HTTP/1.1\r\nHost: shop.example:81\r\nConnection: keep-alive\r\n"
      "Accept:text/html\r\nX-Twice:  1 \r\nKeep-Alive: timeout=5\r\nX-Twice: 2\r\nEmpty:\r\n"
      "Proxy-Authorization: secret\r\n\r\n";
  ForwardedRequest with = kClient;
  with.request_id = "0123";
  with.traceparent = "00-ab-cd-01";
  CHECK(forward(text, with) ==
        "GET /a%2Fb//c?q=%zz&r HTTP/1.1\r\nHost: shop.example:81\r\n"
        "Accept:text/html\r\nX-Twice:  1 \r\nX-Twice: 2\r\nEmpty:\r\n"
        "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: http\r\n"
        "X-Forwarded-Host: shop.example:81\r\n"
        "Forwarded: for=192.0.2.7;host=\"shop.example:81\";proto=http\r\n"
        "Via: 1.1 spillway\r\nX-Request-Id: 0123\r\ntraceparent: 00-ab-cd-01\r\n\r\n");
}

// RFC 9110 section 7.6.2.
TEST_CASE("OPTIONS goes on with one less in Max-Forwards and other methods as they came") {
  const auto sent = [](const std::string& method, const std::string& value) {
    return forward(method + " / HTTP/1.1\r\nHost: a\r\nMax-Forwards: " + value + "\r\n\r\n",
                   kClient);
  };
  CHECK(has_line(sent("OPTIONS", "10"), "Max-Forwards: 9"));
  CHECK(has_line(sent("OPTIONS", "1"), "Max-Forwards: 0"));
  CHECK_FALSE(has_line(sent("OPTIONS", "10"), "Max-Forwards: 10"));
  CHECK(has_line(sent("OPTIONS", "99999999999999999999"), "Max-Forwards: 4294967294"));
  CHECK(has_line(sent("OPTIONS", "ten"), "Max-Forwards: ten"));
  CHECK(has_line(sent("GET", "10"), "Max-Forwards: 10"));
}

TEST_CASE("Spillway's own fields cannot be sent by a client") {
  const std::string text =
      "GET / HTTP/1.1\r\nHost: a\r\nSpillway-Late: 1\r\nspillway-other: 2\r\n\r\n";
  CHECK(forward(text, kClient).find("pillway-") == std::string::npos);
  ForwardedRequest late = kClient;
  late.late = true;
  CHECK(has_line(forward(text, late), "Spillway-Late: 1"));
  ForwardedRequest cheaper = kClient;
  cheaper.skip_downstream = true;
  CHECK(has_line(forward(text, cheaper), "Spillway-Degrade: skip-downstream"));
}

TEST_CASE("a client's valid request id and traceparent are kept and invalid ones replaced") {
  const std::string text =
      "GET / HTTP/1.1\r\nHost: a\r\nX-Request-ID: mine\r\nTraceparent: 00-x\r\n\r\n";
  const std::string kept = forward(text, kClient);
  CHECK(has_line(kept, "X-Request-ID: mine"));
  CHECK(has_line(kept, "Traceparent: 00-x"));
  ForwardedRequest with = kClient;
  with.request_id = "ours";
  with.traceparent = "00-y";
  const std::string replaced = forward(text, with);
  CHECK(replaced.find("mine") == std::string::npos);
  CHECK(replaced.find("00-x") == std::string::npos);
  CHECK(has_line(replaced, "X-Request-Id: ours"));
  CHECK(has_line(replaced, "traceparent: 00-y"));
}

TEST_CASE("the request line is in origin form and Host is the effective one") {
  const std::string absolute =
      forward("GET http://o.example:82/p?q HTTP/1.1\r\nHost: h\r\n\r\n", kClient);
  CHECK(absolute.starts_with("GET /p?q HTTP/1.1\r\nHost: o.example:82\r\n"));
  CHECK(absolute.find("Host: h\r\n") == std::string::npos);
  CHECK(forward("GET http://o?q HTTP/1.1\r\nHost: h\r\n\r\n", kClient)
            .starts_with("GET /?q HTTP/1.1\r\nHost: o\r\n"));
  CHECK(forward("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", kClient)
            .starts_with("OPTIONS * HTTP/1.1\r\nHost: h\r\n"));
  ForwardedRequest with = kClient;
  with.default_host = "127.0.0.1:3000";
  const std::string old = forward("GET / HTTP/1.0\r\n\r\n", with);
  CHECK(old.starts_with("GET / HTTP/1.1\r\nHost: 127.0.0.1:3000\r\n"));
  CHECK(has_line(old, "Via: 1.0 spillway"));
}

TEST_CASE("Prefer goes on unless this proxy applies it") {
  const std::string text =
      "GET / HTTP/1.1\r\nHost: h\r\nPrefer: respond-async\r\nprefer: wait=5\r\nA: 1\r\n\r\n";
  RequestHead head;
  REQUIRE(parse_request(text, head) == Error::none);
  const auto written = [&](bool applies) {
    std::array<char, 4096> block;
    TextWriter out(block);
    REQUIRE(write_request_head(out, head, {.applies_prefer = applies}));
    return std::string(out.text());
  };
  CHECK(written(false).find("\r\nPrefer: respond-async\r\nprefer: wait=5\r\n") !=
        std::string::npos);
  CHECK(written(true).find("refer:") == std::string::npos);
  CHECK(written(true).find("\r\nA: 1\r\n") != std::string::npos);
}

TEST_CASE("fields that Connection names are stripped but not those that protect somebody") {
  const std::string text =
      "POST / HTTP/1.1\r\nHost: a\r\nConnection: close, X-Private, Content-Length, Host,"
      " Authorization, X-Api-Key, Cookie, x-forwarded-for\r\nX-Private: 1\r\nContent-Length: 3\r\n"
      "Authorization: b\r\nX-Api-Key: k\r\nCookie: c=d\r\n\r\n";
  const std::string head = forward(text, kClient);
  CHECK_FALSE(has_field(head, "Connection"));
  CHECK_FALSE(has_field(head, "X-Private"));
  for (const char* line : {"Content-Length: 3", "Host: a", "Authorization: b", "X-Api-Key: k",
                           "Cookie: c=d", "X-Forwarded-For: 192.0.2.7"}) {
    CAPTURE(line);
    CHECK(has_line(head, line));
  }
}

TEST_CASE("one framing field goes on and so does TE trailers but no Expect") {
  const std::string chunked = forward(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:  Chunked\r\nTE: gzip, trailers\r\n"
      "Connection: TE\r\nTrailer: X-Sum\r\nExpect: 100-continue\r\n\r\n",
      kClient);
  CHECK(has_line(chunked, "Transfer-Encoding: chunked"));
  CHECK(chunked.find("ransfer-Encoding", chunked.find("ransfer-Encoding") + 1) ==
        std::string::npos);
  CHECK(has_line(chunked, "TE: trailers"));
  CHECK(has_line(chunked, "Connection: TE"));
  CHECK(has_line(chunked, "Trailer: X-Sum"));
  CHECK_FALSE(has_field(chunked, "Expect"));
  const std::string old = forward("POST / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n", kClient);
  CHECK_FALSE(has_field(old, "Expect"));
  const std::string plain = forward("GET / HTTP/1.1\r\nHost: a\r\nTE: gzip\r\n\r\n", kClient);
  CHECK_FALSE(has_field(plain, "TE"));
  CHECK_FALSE(has_field(plain, "Connection"));
}

TEST_CASE("the upstream reads from the new head what was read from the old one") {
  for (const std::string text :
       {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "PUT /x?y HTTP/1.0\r\nContent-Length: 3\r\n\r\n",
        "POST http://b:1/%2e HTTP/1.1\r\nHost: a\r\ntransfer-encoding: CHUNKED\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: a\r\nConnection: content-length, close\r\nContent-Length: "
        "9\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: [::1]:8\r\nConnection: Host, Transfer-Encoding\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"}) {
    CAPTURE(text);
    RequestHead before;
    REQUIRE(read_request(text, before) == Error::none);
    ForwardedRequest with = kClient;
    with.default_host = "default";
    const std::string written = forward(text, with);
    RequestHead after;
    REQUIRE(read_request(written, after) == Error::none);
    CHECK(after.framing.kind == before.framing.kind);
    CHECK(after.framing.length == before.framing.length);
    CHECK(after.host == (before.host.empty() ? "default" : before.host));
    CHECK(after.path_and_query == before.path_and_query);
    CHECK(after.keep_alive);
  }
}

TEST_CASE("a block that is too small is reported and one with the stated room is enough") {
  RequestHead head;
  const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  REQUIRE(read_request(text, head) == Error::none);
  std::array<char, 64> block;
  TextWriter out(block);
  CHECK_FALSE(write_request_head(out, head, kClient));

  // Long client-sent values that are written anew must not outgrow the room either.
  const std::string host(200, 'h');
  ForwardedRequest with{.client_address = "2001:db8:1111:2222:3333:4444:5555:6666"};
  const std::string id(kRewriteRoom / 8, 'i');
  with.trusted_peer = true;
  with.request_id = id;
  with.traceparent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";
  with.late = true;
  with.request_deadline = "1234567890123456";
  with.grpc_timeout = "12345678u";
  std::string many = "GET http://" + host + "?q HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n";
  for (int i = 0; i < 60; ++i) many += "Forwarded:a=b\r\nX-Forwarded-For:1\r\n";
  CHECK(forward(many + "\r\n", with).ends_with("\r\n\r\n"));
}

TEST_CASE("a response goes on with its fields and the proxy's own") {
  const std::string text =
      "HTTP/1.1 200 Fine\r\nServer: x\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\n"
      "Set-Cookie: a=b\r\nSet-Cookie: c=d\r\nKeep-Alive: timeout=5\r\nContent-Length: 5\r\n\r\n";
  ForwardedResponse with;
  with.request_id = "0123";
  with.queue_wait = from_seconds(0.00314);
  CHECK(relay(text, with) ==
        "HTTP/1.1 200 Fine\r\nServer: x\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\n"
        "Content-Length: 5\r\nVia: 1.1 spillway\r\nX-Request-Id: 0123\r\n"
        "Server-Timing: queue;dur=3.1\r\n\r\n");
}

TEST_CASE("a degraded response says how and why") {
  const std::string text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  CHECK(relay(text, {}).find("Spillway-Degraded") == std::string::npos);
  ForwardedResponse with;
  with.degraded = "skip_downstream";
  with.degraded_for = Reason::tail_latency;
  CHECK(
      has_line(relay(text, with), "Spillway-Degraded: mode=skip_downstream; reason=TAIL_LATENCY"));
}

TEST_CASE("a response without a date gets the time it came at") {
  ForwardedResponse with;
  with.date = "Sun, 06 Nov 1994 08:49:37 GMT";
  CHECK(has_line(relay("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", with),
                 "Date: Sun, 06 Nov 1994 08:49:37 GMT"));
  const std::string dated =
      relay("HTTP/1.1 200 OK\r\nDate: Mon\r\nContent-Length: 5\r\n\r\n", with);
  CHECK(has_line(dated, "Date: Mon"));
  CHECK(dated.find("1994") == std::string::npos);
}

TEST_CASE("only what Spillway says of the deadline goes on") {
  const std::string text =
      "GET / HTTP/1.1\r\nHost: a\r\nX-Request-Deadline: 5s\r\nGRPC-Timeout: 5S\r\n"
      "x-request-deadline: 6s\r\nX-Request-Deadlines: kept\r\n\r\n";
  const std::string plain = forward(text, kClient);
  CHECK(plain.find("5s") == std::string::npos);
  CHECK(plain.find("5S") == std::string::npos);
  CHECK(plain.find("6s") == std::string::npos);
  CHECK(has_line(plain, "X-Request-Deadlines: kept"));
  ForwardedRequest with = kClient;
  with.request_deadline = "4987ms";
  with.grpc_timeout = "4987654u";
  const std::string told = forward(text, with);
  CHECK(has_line(told, "X-Request-Deadline: 4987ms"));
  CHECK(has_line(told, "grpc-timeout: 4987654u"));
  CHECK(told.find("5s") == std::string::npos);
  // Named in Connection they are told all the same.
  CHECK(has_line(forward("GET / HTTP/1.1\r\nHost: a\r\nConnection: X-Request-Deadline\r\n"
                         "X-Request-Deadline: 5s\r\n\r\n",
                         with),
                 "X-Request-Deadline: 4987ms"));
}

TEST_CASE("a request whose answer is to be stored asks for it on the cache's own conditions") {
  const std::string text =
      "GET /a HTTP/1.1\r\nHost: h\r\nIf-None-Match: \"9\"\r\nIf-Modified-Since: Mon\r\n"
      "Cache-Control: no-cache\r\nPragma: no-cache\r\nAccept: a/b\r\n\r\n";
  ForwardedRequest with = kClient;
  const std::string plain = forward(text, with);
  CHECK(has_line(plain, "If-None-Match: \"9\""));
  CHECK(has_line(plain, "If-Modified-Since: Mon"));
  with.for_store = true;
  const std::string whole = forward(text, with);
  CHECK_FALSE(has_field(whole, "If-None-Match"));
  CHECK_FALSE(has_field(whole, "If-Modified-Since"));
  CHECK(has_line(whole, "Cache-Control: no-cache"));
  with.etag = "\"1\"";
  with.last_modified = "Tue";
  with.in_background = true;
  const std::string refresh = forward(text, with);
  CHECK(has_line(refresh, "If-None-Match: \"1\""));
  CHECK(has_line(refresh, "If-Modified-Since: Tue"));
  CHECK_FALSE(has_field(refresh, "Cache-Control"));
  CHECK_FALSE(has_field(refresh, "Pragma"));
  CHECK(has_line(refresh, "Accept: a/b"));
}

TEST_CASE("the client's connection is announced as its version needs") {
  const std::string text = "HTTP/1.0 200 OK\r\nContent-Length: 5\r\nX-Request-ID: up\r\n\r\n";
  ForwardedResponse with{.client_version = 10, .keep_alive = true, .request_id = "0123"};
  const std::string kept = relay(text, with);
  CHECK(kept.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(has_line(kept, "Connection: keep-alive"));
  CHECK(has_line(kept, "X-Request-ID: up"));
  CHECK(kept.find("0123") == std::string::npos);
  CHECK(has_line(kept, "Via: 1.0 spillway"));
  with.keep_alive = false;
  CHECK(has_line(relay(text, with), "Connection: close"));
  with.client_version = 11;
  CHECK(has_line(relay(text, with), "Connection: close"));
}

TEST_CASE("chunked framing goes on unless the body is relayed without it") {
  const std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n";
  CHECK(has_line(relay(text, {}), "Transfer-Encoding: chunked"));
  ForwardedResponse with{.client_version = 10, .keep_alive = false, .dechunk = true};
  CHECK_FALSE(has_field(relay(text, with), "Transfer-Encoding"));
  // RFC 9110 section 9.3.2: a response to HEAD says how long the content would have been.
  CHECK(has_line(relay("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", {}, Verb::head),
                 "Content-Length: 5"));
  CHECK_FALSE(
      has_field(relay("HTTP/1.1 204 X\r\nContent-Length: 0\r\n\r\n", {}), "Content-Length"));
}

TEST_CASE("a length that is said several times goes on once") {
  for (const char* lines :
       {"Content-Length: 5\r\nA: b\r\nContent-Length: 5\r\n", "Content-Length: 5, 5\r\nA: b\r\n",
        "A: b\r\nContent-Length:\t005 ,5\r\n",
        "Content-Length: 5\r\nA: b\r\nContent-Length: 05, 5\r\n"}) {
    for (const Verb method : {Verb::get, Verb::head}) {
      CAPTURE(lines);
      const std::string head = relay("HTTP/1.1 200\r\n" + std::string(lines) + "\r\n", {}, method);
      CHECK(head.starts_with("HTTP/1.1 200 \r\n"));
      CHECK(has_line(head, "Content-Length: 5"));
      CHECK(head.find("Content-Length") == head.rfind("Content-Length"));
      CHECK(has_line(head, "A: b"));
    }
  }
}

TEST_CASE("an interim response goes on as it came") {
  ResponseHead head;
  const std::string text = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nConnection: close\r\n\r\n";
  REQUIRE(read_response(text, Verb::get, head) == Error::none);
  std::array<char, 256> block;
  TextWriter out(block);
  CHECK(write_interim_head(out, head));
  CHECK(out.text() == "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
}
