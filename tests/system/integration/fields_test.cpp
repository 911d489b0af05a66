// What fields say after the proxy: end to end byte for byte, hop by hop not at all.
#include <doctest/doctest.h>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

// What the upstream is sent for a request.
Message seen_upstream(const std::string& request,
                      const nlohmann::json& changes = nlohmann::json::object()) {
  ScriptedPeer peer(ok("x"));
  ProxyUnderTest proxy(peer.address(), never_shed(changes));
  RawClient client(proxy.port());
  CHECK(client.ask(request).status() == 200);
  std::string received = peer.seen().received.at(0);
  return *take_message(received, Expected::request, false);
}

// What the client is sent for a response.
Message seen_by_client(const std::string& response) {
  ScriptedPeer peer(response);
  ProxyUnderTest proxy(peer.address(), never_shed());
  return RawClient(proxy.port()).ask(get("/"));
}

TEST_CASE("end-to-end fields of a request pass byte for byte and in order with duplicates") {
  const Message request = seen_upstream(
      get("/", "X-a: 1\r\nx-A:   2  \r\nCookie: a=b; c=\"d\"\r\nX-a: \xc3\xa4\r\nX-Empty:\r\n"));
  std::vector<std::string> values;
  for (const auto& [name, value] : request.fields) {
    if (name == "X-a" || name == "x-A" || name == "Cookie" || name == "X-Empty") {
      values.push_back(name + "=" + value);
    }
  }
  CHECK(values == std::vector<std::string>{"X-a=1", "x-A=2", "Cookie=a=b; c=\"d\"", "X-a=\xc3\xa4",
                                           "X-Empty="});
}

TEST_CASE("hop-by-hop fields of a request end here and those that Connection names too") {
  const Message request = seen_upstream(
      get("/",
          "Connection: keep-alive, X-Hop\r\nKeep-Alive: timeout=5\r\nX-Hop: 1\r\n"
          "Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\nUpgrade: h2c\r\n"
          "TE: gzip\r\nX-Stay: 1\r\n"));
  for (const char* name : {"Connection", "Keep-Alive", "X-Hop", "Proxy-Connection",
                           "Proxy-Authorization", "Upgrade", "TE"}) {
    CHECK_MESSAGE(!request.field(name), name);
  }
  CHECK(request.field("X-Stay") == "1");
}

TEST_CASE("Connection cannot remove framing, Host or identity fields") {
  const Message request = seen_upstream(
      "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\nAuthorization: Basic eA==\r\n"
      "Connection: Content-Length, Host, X-Forwarded-For, Authorization, Via\r\n\r\nhi");
  CHECK(request.field("Host") == "a.example");
  CHECK(request.body == "hi");
  CHECK(request.field("X-Forwarded-For") == "127.0.0.1");
  CHECK(request.field("Authorization") == "Basic eA==");
  CHECK(request.field("Via") == "1.1 spillway");
}

TEST_CASE("hop-by-hop fields of a response end here and those that Connection names too") {
  const Message answer = seen_by_client(
      ok("x",
         "Connection: keep-alive, X-Hop\r\nKeep-Alive: timeout=5\r\nX-Hop: 1\r\n"
         "Proxy-Authenticate: Basic\r\nUpgrade: h2c\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"));
  for (const char* name : {"Connection", "Keep-Alive", "X-Hop", "Proxy-Authenticate", "Upgrade"}) {
    CHECK_MESSAGE(!answer.field(name), name);
  }
  CHECK(count(answer.fields, "Set-Cookie") == 2);
  CHECK(answer.field("Via") == "1.1 spillway");
}

TEST_CASE("forwarding fields are written anew unless the peer is trusted") {
  const std::string request =
      get("/",
          "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\n"
          "Forwarded: for=6.6.6.6\r\nX-Forwarded-Port: 1\r\n");
  const Message replaced = seen_upstream(request);
  CHECK(replaced.field("X-Forwarded-For") == "127.0.0.1");
  CHECK(replaced.field("X-Forwarded-Proto") == "http");
  CHECK(replaced.field("X-Forwarded-Host") == "a.example");
  CHECK(replaced.field("Forwarded") == "for=127.0.0.1;host=a.example;proto=http");
  CHECK_FALSE(replaced.field("X-Forwarded-Port"));

  const Message appended = seen_upstream(request, {{"trusted_peers", {"127.0.0.1"}}});
  CHECK(appended.field("X-Forwarded-For") == "6.6.6.6, 127.0.0.1");
  CHECK(appended.field("X-Forwarded-Proto") == "https");
  CHECK(appended.field("X-Forwarded-Host") == "evil");
  CHECK(appended.field("Forwarded") == "for=6.6.6.6, for=127.0.0.1;host=a.example;proto=http");
  CHECK(count(appended.fields, "X-Forwarded-For") == 1);
}

TEST_CASE("a chain that a trusted peer tells in one form reaches the upstream in both") {
  const nlohmann::json trusted = {{"trusted_peers", {"127.0.0.1"}}};
  const Message x = seen_upstream(
      get("/", "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n"), trusted);
  CHECK(x.field("X-Forwarded-For") == "203.0.113.9, 127.0.0.1");
  CHECK(x.field("Forwarded") ==
        "for=203.0.113.9;proto=https, for=127.0.0.1;host=a.example;proto=http");
  const Message standard =
      seen_upstream(get("/", "Forwarded: for=203.0.113.9;proto=https\r\n"), trusted);
  CHECK(standard.field("X-Forwarded-For") == "203.0.113.9, 127.0.0.1");
  CHECK(standard.field("X-Forwarded-Proto") == "https");
  CHECK(standard.field("Forwarded") ==
        "for=203.0.113.9;proto=https, for=127.0.0.1;host=a.example;proto=http");
}

TEST_CASE("a request gets an id and a trace when it has none and keeps those it has") {
  ScriptedPeer peer(ok("x"));
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  const Message answer = client.ask(get("/"));
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const Message kept =
      client.ask(get("/", "X-Request-Id: my-id.7\r\ntraceparent: " + trace + "\r\n"));
  CHECK(kept.field("X-Request-Id") == "my-id.7");
  const Message invalid = client.ask(get("/", "X-Request-Id: a b\r\ntraceparent: nonsense\r\n"));

  std::string received = peer.seen().received.at(0);
  const auto first = take_message(received, Expected::request, false);
  const auto second = take_message(received, Expected::request, false);
  const auto third = take_message(received, Expected::request, false);
  CHECK(first->field("X-Request-Id") == answer.field("X-Request-Id"));
  CHECK(first->field("X-Request-Id").value_or("").size() >= 16);
  CHECK(first->field("traceparent").value_or("").size() == trace.size());
  CHECK(second->field("X-Request-Id") == "my-id.7");
  CHECK(second->field("traceparent") == trace);
  CHECK(third->field("X-Request-Id") == invalid.field("X-Request-Id"));
  CHECK(third->field("X-Request-Id") != "a b");
  CHECK(third->field("X-Request-Id") != first->field("X-Request-Id"));
  CHECK(third->field("traceparent") != "nonsense");
  CHECK(count(third->fields, "X-Request-Id") == 1);
  CHECK(count(third->fields, "traceparent") == 1);
}

TEST_CASE("fields that only the proxy may set do not come from clients") {
  const Message request = seen_upstream(get("/", "Spillway-Late: 1\r\nsPILLWAY-Degraded: x\r\n"));
  CHECK_FALSE(request.field("Spillway-Late"));
  CHECK_FALSE(request.field("Spillway-Degraded"));
}

TEST_CASE("path and query pass byte for byte") {
  for (const std::string target :
       {"/a//b/../c/./%2e%2E/%2f?x=%zz&y=a+b&&", "/%C3%A4%00;p=1?", "/?a?b", "/a%20b|\"<>^`{}"}) {
    const Message request = seen_upstream(get(target));
    CHECK(request.target() == target);
  }
}

TEST_CASE("an absolute target overrides Host and goes on as a path") {
  const Message request =
      seen_upstream("GET http://real.example:81/p?q HTTP/1.1\r\nHost: other.example\r\n\r\n");
  CHECK(request.target() == "/p?q");
  CHECK(request.field("Host") == "real.example:81");
  CHECK(count(request.fields, "Host") == 1);
  CHECK(seen_upstream("GET http://real.example HTTP/1.1\r\nHost: x\r\n\r\n").target() == "/");
  CHECK(seen_upstream("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n").target() == "*");
}

TEST_CASE("TE trailers is asked for again and nothing else of TE") {
  const Message request = seen_upstream(get("/", "TE: trailers, gzip;q=0.5\r\nConnection: TE\r\n"));
  CHECK(request.field("TE") == "trailers");
  CHECK(request.field("Connection") == "TE");
}

TEST_CASE("an unknown method and an unknown status with an odd reason pass") {
  ScriptedPeer peer("HTTP/1.1 299 So  \xc3\xa4 so\r\nContent-Length: 0\r\n\r\n");
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  const Message answer = client.ask("BREW /pot HTTP/1.1\r\nHost: a.example\r\n\r\n");
  CHECK(answer.start_line == "HTTP/1.1 299 So  \xc3\xa4 so");
  CHECK(peer.seen().received.at(0).starts_with("BREW /pot HTTP/1.1\r\n"));
}

TEST_CASE("a head with a hundred fields and 60 KB passes") {
  std::string lines;
  for (int i = 0; i < 100; ++i) {
    lines += "X-Field-" + std::to_string(i) + ": " + std::string(580, 'v') + "\r\n";
  }
  const Message request = seen_upstream(get("/", lines));
  CHECK(request.field("X-Field-99") == std::string(580, 'v'));
  const Message answer = seen_by_client(ok("x", lines));
  CHECK(answer.field("X-Field-99") == std::string(580, 'v'));
}

}  // namespace
}  // namespace spillway::support
