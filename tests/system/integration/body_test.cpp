// Bodies in both directions: framing byte for byte, streaming, trailers, interim responses.
#include <doctest/doctest.h>

#include <cstdio>
#include <thread>

#include "proxy/net/pipe.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

const std::string kChunkedPost =
    "POST /c HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST_CASE("responses to HEAD and with 204 and 304 have no body and keep the connection") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->method() == "HEAD") {
        proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
      } else if (request->target() == "/204") {
        proxy.send("HTTP/1.1 204 No Content\r\n\r\n");
      } else {
        proxy.send("HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\nETag: \"x\"\r\n\r\n");
      }
    }
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  for (int i = 0; i < 2; ++i) {
    client.send("HEAD / HTTP/1.1\r\nHost: a.example\r\n\r\n");
    const Message head = client.read_response(Expected::head_only);
    CHECK(head.status() == 200);
    CHECK(head.field("Content-Length") == "1000");
    CHECK(client.ask(get("/204")).status() == 204);
    const Message unchanged = client.ask(get("/304"));
    CHECK(unchanged.status() == 304);
    CHECK(unchanged.field("Content-Length") == "77");
    CHECK(unchanged.field("ETag") == "\"x\"");
  }
  CHECK(peer.seen().connections == 1);
}

TEST_CASE("a chunked response arrives in the very chunks that were sent") {
  const std::string body = chunked({"a", pattern(70'000), "bc", pattern(200'000), "d"});
  ScriptedPeer peer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body);
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  for (int i = 0; i < 3; ++i) {
    const Message answer = client.ask(get("/"));
    CHECK(answer.field("Transfer-Encoding") == "chunked");
    CHECK((answer.raw_body == body));
  }
  CHECK(peer.seen().connections == 1);
}

TEST_CASE("a chunked request arrives in the very chunks that were sent") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) proxy.send(ok(request->raw_body));
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  for (const std::string& body :
       {chunked({}), chunked({"x"}), chunked({"a", pattern(70'000), "bc"}),
        chunked({pattern(300'000), "d"}, "Sum: 12\r\n")}) {
    const Message answer = client.ask(kChunkedPost + body);
    CHECK(answer.status() == 200);
    CHECK((answer.body == body));
  }
}

TEST_CASE("chunks with extensions and zeros are written anew and what follows them is found") {
  const std::string large = pattern(100'000);  // streamed
  for (const std::string& content : {std::string("abc"), large}) {
    char size[16];
    std::snprintf(size, sizeof size, "%zX", content.size());
    const std::string odd = "000" + std::string(size) + " ; a=\"b;c\"\r\n" + content +
                            "\r\n1;x\r\nd\r\n00;y\r\nX-Sum: 1\r\n\r\n";
    ScriptedPeer peer([&](PeerConnection& proxy) {
      while (const auto request = proxy.read_request()) {
        const bool is_post = request->method() == "POST";
        proxy.send(is_post ? ok(request->raw_body) : ok(request->target()));
      }
    });
    const ProxyUnderTest proxy(peer.address(), never_shed());
    for (const std::size_t step :
         {kChunkedPost.size() + odd.size() + 1000, std::size_t{997}, std::size_t{3}}) {
      if (step == 3 && content == large) continue;
      CAPTURE(step);
      const std::string bytes = kChunkedPost + odd + get("/next");
      RawClient client(proxy.port());
      for (std::size_t at = 0; at < bytes.size(); at += step) client.send(bytes.substr(at, step));
      CHECK((client.read_response().body == chunked({content, "d"}, "X-Sum: 1\r\n")));
      CHECK(client.read_response().body == "/next");
    }
  }
}

TEST_CASE("bodies of every size around the buffers' arrive whole in both directions") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) proxy.send(ok(request->body));
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  for (const std::size_t around : {0, 1, 16'384, 65'536, 131'072, 1'000'000}) {
    for (const std::size_t size : {around, around + 1, around > 0 ? around - 1 : 0}) {
      const std::string body = pattern(size);
      const Message answer = client.ask(post("/", body));
      CHECK(answer.status() == 200);
      CHECK_MESSAGE((answer.body == body), size);
    }
  }
}

TEST_CASE("long answers arrive whole though there are more of them than pipes") {
  constexpr std::size_t kAtATime = proxy::PipePool::kMost + 6;
  const std::string body = pattern(3'000'000);  // more than the sockets hold
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (proxy.read_request()) proxy.send(ok(body));
  });
  ProxyUnderTest proxy(peer.address(), never_shed({{"dispatch", {{"concurrency", kAtATime}}}}));
  std::vector<RawClient> clients;
  for (std::size_t i = 0; i < kAtATime; ++i) {
    clients.emplace_back(proxy.port(), 4096);
    clients.back().send(get("/"));
  }
  for (RawClient& client : clients) CHECK(client.read_head().status() == 200);
  std::size_t wrong = 0;
  for (RawClient& client : clients) wrong += client.read_bytes(body.size()) != body;
  CHECK(wrong == 0);
  CHECK(clients.front().ask(get("/")).body == body);
}

TEST_CASE("requests behind bodies and heads of every size are read from where those end") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) proxy.send(ok(request->body));
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  const std::string large_head = "X: " + std::string(20'000, 'x') + "\r\n";
  const std::vector<std::size_t> sizes = {60'000, 0, 100'000, 65'536, 3, 300'000, 16'000};
  std::string all;
  for (const std::size_t size : sizes) {
    all += post("/", pattern(size)) + get("/") + get("/", large_head);
    all += kChunkedPost + chunked({"x", pattern(size + 1)}) + get("/");
    all += post("/", pattern(size), large_head);
  }
  std::thread sender([&] { client.try_send(all); });
  for (const std::size_t size : sizes) {
    CAPTURE(size);
    CHECK((client.read_response().body == pattern(size)));
    CHECK(client.read_response().body.empty());
    CHECK(client.read_response().body.empty());
    CHECK((client.read_response().body == "x" + pattern(size + 1)));
    CHECK(client.read_response().body.empty());
    CHECK((client.read_response().body == pattern(size)));
  }
  sender.join();
}

TEST_CASE("trailers pass in both directions") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      proxy.send("HTTP/1.1 200 OK\r\nTrailer: Answer-Sum\r\nTransfer-Encoding: chunked\r\n\r\n" +
                 chunked({find(request->trailers, "Ask-Sum").value_or("none")},
                         "Answer-Sum: 2\r\nOther: 3\r\n"));
    }
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  const Message answer = client.ask(kChunkedPost + chunked({"body"}, "Ask-Sum: 1\r\n"));
  CHECK(answer.body == "1");
  CHECK(answer.field("Trailer") == "Answer-Sum");
  CHECK(answer.trailers == Fields{{"Answer-Sum", "2"}, {"Other", "3"}});
}

TEST_CASE("interim responses are passed on in order before the final one") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    while (proxy.read_request()) {
      proxy.send(
          "HTTP/1.1 102 Processing\r\n\r\n"
          "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n" +
          ok("final"));
    }
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  client.send(get("/"));
  CHECK(client.read_response().status() == 102);
  const Message hints = client.read_response();
  CHECK(hints.status() == 103);
  CHECK(hints.field("Link") == "</a.css>");
  CHECK_FALSE(hints.field("X-Hop"));
  CHECK(client.read_response().body == "final");

  // HTTP/1.0 does not know them.
  client.send("GET / HTTP/1.0\r\n\r\n");
  CHECK(client.read_response().body == "final");
}

TEST_CASE("a small body is complete before the upstream sees the request") {
  ScriptedPeer peer(ok("done"));
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  const std::string request = post("/", pattern(10'000));
  client.send(std::string_view(request).substr(0, 5'000));
  CHECK_FALSE(peer.wait_until([](const auto& seen) { return seen.connections > 0; }, 100ms));
  CHECK(proxy.metric(R"(spillway_inflight{upstream="app"})") == 0);
  client.send(std::string_view(request).substr(5'000));
  CHECK(client.read_response().body == "done");
}

TEST_CASE("request_buffering off: the upstream gets a large body before its end") {
  Event head_seen;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    const auto head = proxy.read_head();
    head_seen.set();
    if (proxy.skip_bytes(1'000'000)) proxy.send(ok("all there"));
  });
  ProxyUnderTest proxy(peer.address(), streamed());
  RawClient client(proxy.port());
  const std::string request = post("/", pattern(1'000'000));
  client.send(std::string_view(request).substr(0, 2'000));
  CHECK_FALSE(head_seen.wait(100ms));  // the first 64 KiB hold no slot
  client.send(std::string_view(request).substr(2'000, 98'000));
  CHECK(head_seen.wait());
  client.send(std::string_view(request).substr(100'000));
  CHECK(client.read_response().body == "all there");
}

TEST_CASE("a response may begin before the request body ends") {
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (proxy.read_head()) {
      proxy.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
      if (!proxy.skip_bytes(1'000'000)) return;
      proxy.send("4\r\nlast\r\n0\r\n\r\n");
    }
  });
  ProxyUnderTest proxy(peer.address(), streamed());
  RawClient client(proxy.port());
  const std::string request = post("/", pattern(1'000'000));
  for (int i = 0; i < 2; ++i) {
    client.send(std::string_view(request).substr(0, 70'000));
    CHECK(client.read_head().status() == 200);
    CHECK(client.read_bytes(10) == "5\r\nfirst\r\n");
    client.send(std::string_view(request).substr(70'000));
    CHECK(client.read_bytes(14) == "4\r\nlast\r\n0\r\n\r\n");
  }
  CHECK(peer.seen().connections == 1);
}

TEST_CASE("an early final response stops the body and costs the connection to the upstream") {
  Event closed;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    if (proxy.number() > 0) {
      proxy.read_request();
      proxy.send(ok("next"));
      return;
    }
    proxy.read_head();
    proxy.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    if (proxy.wait_closed()) closed.set();
  });
  ProxyUnderTest proxy(peer.address(), streamed());
  RawClient client(proxy.port());
  const std::string request = post("/", pattern(50'000'000));
  client.send(std::string_view(request).substr(0, 100'000));
  const Message answer = client.read_response();
  CHECK(answer.status() == 403);
  CHECK(answer.body == "no");
  CHECK(closed.wait());
  // The rest of the body is not taken for another request.
  CHECK(client.is_closed());
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
  CHECK(RawClient(proxy.port()).ask(get("/")).body == "next");
}

TEST_CASE("a client that goes on sending still gets the early final response") {
  ScriptedPeer peer([&](PeerConnection& proxy) {
    proxy.read_head();
    proxy.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
    proxy.wait_closed();
  });
  ProxyUnderTest proxy(peer.address(), streamed());
  RawClient client(proxy.port());
  client.try_send(post("/", pattern(2'000'000)), 2s);
  CHECK(client.read_response().body == "big");
}

TEST_CASE("a slow client's small body is not counted against its deadline or its upstream") {
  ScriptedPeer peer(ok("done"));
  nlohmann::json changes = never_shed();
  changes["classes"] = {{{"name", "P0"}, {"sla_ms", 50}, {"max_wait_ms", 50}}};
  ProxyUnderTest proxy(peer.address(), changes);
  for (const char* framing : {"Content-Length: 4\r\n", "Transfer-Encoding: chunked\r\n"}) {
    const bool counted = framing[0] == 'C';
    const std::size_t before = peer.seen().connections;
    RawClient client(proxy.port());
    client.send("POST / HTTP/1.1\r\nHost: a.example\r\n" + std::string(framing) + "\r\n" +
                (counted ? "ab" : "2\r\nab\r\n"));
    const Event nothing;
    CHECK_FALSE(nothing.wait(120ms));  // more than the deadline
    CHECK(peer.seen().connections == before);
    client.send(counted ? "cd" : "0\r\n\r\n");
    CHECK(client.read_response().body == "done");
  }
  CHECK(proxy.metric_becomes(
      R"(spillway_upstream_duration_seconds_bucket{upstream="app",le="0.1"})", 2));
}

TEST_CASE("a steady upload outlasts the response timeout after an early response head") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (!proxy.read_head()) return;
    proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab");
    if (proxy.skip_bytes(200'000)) proxy.send("last");
  });
  ProxyUnderTest proxy(peer.address(), streamed({{"app", {{"response_timeout_ms", 150}}}}));
  RawClient client(proxy.port());
  const std::string request = post("/", pattern(200'000));
  client.send(std::string_view(request).substr(0, 100'000));
  CHECK(client.read_head().status() == 200);
  const Event nothing;
  CHECK_FALSE(nothing.wait(400ms));  // more than the timeout
  client.send(std::string_view(request).substr(100'000));
  CHECK(client.read_bytes(6) == "ablast");
}

TEST_CASE("100-continue is answered here and not forwarded") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request())
      proxy.send(ok(request->field("Expect").value_or("") + request->body));
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  const std::string expecting = "POST / HTTP/1.1\r\nHost: a.example\r\nExpect: 100-continue\r\n";
  const std::string large = pattern(100'000);
  const std::string counted = expecting + "Content-Length: 8\r\n\r\n";
  for (const auto& [head, body] : std::vector<std::pair<std::string, std::string>>{
           {counted, "the body"},
           {expecting + "Content-Length: 100000\r\n\r\n", large},
           {expecting + "Transfer-Encoding: chunked\r\n\r\n", chunked({"the body"})}}) {
    CHECK(client.send(head).read_response().status() == 100);
    const Message answer = client.send(body).read_response();
    CHECK(answer.status() == 200);
    CHECK((answer.body == (body.starts_with("8") ? "the body" : body)));
  }
  // What has come with the head asks for no 100 (RFC 9110 section 10.1.1).
  CHECK(client.ask(counted + "the body").body == "the body");
  CHECK(peer.seen().connections == 1);
}

TEST_CASE("an upstream's refusal of an expected large body reaches the client before its end") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    proxy.read_head();
    proxy.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno");
    proxy.wait_closed();
  });
  ProxyUnderTest proxy(peer.address(), streamed());
  RawClient client(proxy.port());
  client.send(
      "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 9000000\r\n"
      "Expect: 100-continue\r\n\r\n");
  CHECK(client.read_response().status() == 100);
  const Message answer = client.ask(pattern(70'000));
  CHECK(answer.status() == 401);
  CHECK(answer.body == "no");
}

}  // namespace
}  // namespace spillway::support
