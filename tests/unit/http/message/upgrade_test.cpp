#include "http/message/upgrade.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "http/outgoing/rewrite.hpp"
#include "unit/http/requests.hpp"

using namespace spillway;
using namespace spillway::http;

namespace {

const std::vector<std::string> kAllowed{"websocket", "mqtt"};

std::string offered(const std::string& text, const std::vector<std::string>& allowed = kAllowed) {
  RequestHead head;
  REQUIRE(read_request(text, head) == Error::none);
  return std::string(offered_upgrade(head, allowed));
}

std::string asking(const std::string& lines, const std::string& line = "GET / HTTP/1.1") {
  return line + "\r\nHost: a.example\r\n" + lines + "\r\n";
}

bool switches(const std::string& lines, const std::string& version = "1.1") {
  const std::string text = "HTTP/" + version + " 101 Switching Protocols\r\n" + lines + "\r\n";
  ResponseHead head;
  REQUIRE(read_response(text, Verb::get, head) == Error::none);
  return switches_to(head, "websocket");
}

std::string asked_for(const std::string& text, std::string_view protocol) {
  RequestHead head;
  REQUIRE(read_request(text, head) == Error::none);
  std::array<char, 4096> block;
  TextWriter out(block);
  REQUIRE(write_request_head(out, head, {.client_address = "192.0.2.7", .upgrade = protocol}));
  return std::string(out.text());
}

}  // namespace

TEST_CASE("the first offered protocol that is allowed is chosen") {
  struct Case {
    std::string lines;
    std::string chosen;
  };
  const std::vector<Case> cases{
      {"Connection: upgrade\r\nUpgrade: websocket\r\n", "websocket"},
      {"Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n", "WebSocket"},
      {"Connection: upgrade\r\nUpgrade: chat/2, mqtt/5, websocket\r\n", "mqtt/5"},
      {"Connection: upgrade\r\nUpgrade: chat\r\nUpgrade: mqtt\r\n", "mqtt"},
      {"Connection: upgrade\r\nUpgrade: ,websocket\r\n", "websocket"},
      {"Connection: upgrade\r\nUpgrade: web socket\r\n", ""},
      {"Connection: upgrade\r\nUpgrade: websocket/\r\n", ""},
      {"Connection: upgrade\r\nUpgrade: websocket/1/2\r\n", ""},
      {"Connection: upgrade\r\nUpgrade: websocket;x\r\n", ""},
      {"Connection: upgrade\r\nUpgrade: tls/1.0\r\n", ""},
      {"Connection: upgrade\r\n", ""},
      {"Connection: keep-alive\r\nUpgrade: websocket\r\n", ""},
      {"Upgrade: websocket\r\n", ""},
      {"", ""},
  };
  for (const Case& each : cases) {
    CAPTURE(each.lines);
    CHECK(offered(asking(each.lines)) == each.chosen);
  }
}

TEST_CASE("h2c is never chosen even if it is configured") {
  const std::vector<std::string> all{"h2c", "websocket"};
  CHECK(offered(asking("Connection: upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"), all).empty());
  CHECK(offered(asking("Connection: upgrade\r\nUpgrade: H2C/1, websocket\r\n"), all) ==
        "websocket");
}

TEST_CASE("only a GET in HTTP/1.1 without a body is upgraded") {
  const std::string lines = "Connection: upgrade\r\nUpgrade: websocket\r\n";
  CHECK(offered(asking(lines)) == "websocket");
  CHECK(offered(asking(lines + "Content-Length: 0\r\n")) == "websocket");
  CHECK(offered(asking(lines + "Content-Length: 1\r\n")).empty());
  CHECK(offered(asking(lines + "Transfer-Encoding: chunked\r\n")).empty());
  CHECK(offered(asking(lines, "GET / HTTP/1.0")).empty());
  CHECK(offered(asking(lines, "POST / HTTP/1.1")).empty());
  CHECK(offered(asking(lines, "HEAD / HTTP/1.1")).empty());
  CHECK(offered(asking(lines), {}).empty());
}

TEST_CASE("a 101 counts if it names the protocol asked for and no other") {
  CHECK(switches("Connection: upgrade\r\nUpgrade: websocket\r\n"));
  CHECK(switches("Connection: Upgrade\r\nUpgrade: WebSocket\r\n"));
  CHECK_FALSE(switches("Connection: upgrade\r\nUpgrade: mqtt\r\n"));
  CHECK_FALSE(switches("Connection: upgrade\r\nUpgrade: websocket, mqtt\r\n"));
  CHECK_FALSE(switches("Connection: upgrade\r\nUpgrade: websocket\r\nUpgrade: mqtt\r\n"));
  CHECK_FALSE(switches("Connection: upgrade\r\n"));
  CHECK_FALSE(switches("Upgrade: websocket\r\n"));
  CHECK_FALSE(switches("Connection: upgrade\r\nUpgrade: websocket\r\n", "1.0"));
}

TEST_CASE("the upstream is asked for the one protocol and nothing else") {
  const std::string text = asking(
      "Connection: Upgrade, TE, X-Hop\r\nUpgrade: chat, websocket\r\nTE: trailers\r\nX-Hop: 1\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
  const std::string head = asked_for(text, "websocket");
  CHECK(head.find("\r\nConnection: upgrade\r\nUpgrade: websocket\r\n") != std::string::npos);
  CHECK(head.find("\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n") != std::string::npos);
  CHECK(head.find("chat") == std::string::npos);
  CHECK(head.find("X-Hop") == std::string::npos);
  CHECK(head.find("Connection", head.find("Connection") + 1) == std::string::npos);
  const std::string plain = asked_for(text, {});
  CHECK(plain.find("Upgrade") == std::string::npos);
  CHECK(plain.find("websocket") == std::string::npos);
}

TEST_CASE("a 101 goes on with its fields and what this hop says of the switch") {
  const std::string text =
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade, X-Hop\r\nUpgrade: WebSocket\r\n"
      "X-Hop: 1\r\nContent-Length: 5\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
  ResponseHead head;
  REQUIRE(read_response(text, Verb::get, head) == Error::none);
  std::array<char, 1024> block;
  TextWriter out(block);
  CHECK(write_switching_head(out, head, {"websocket", "id-1", "Set-Cookie: pass\r\n"}));
  CHECK(out.text() ==
        "HTTP/1.1 101 Switching Protocols\r\n"
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
        "Connection: upgrade\r\nUpgrade: websocket\r\nX-Request-Id: id-1\r\n"
        "Set-Cookie: pass\r\n\r\n");
  std::array<char, 40> small;
  TextWriter narrow(small);
  CHECK_FALSE(write_switching_head(narrow, head, {"websocket", "id-1", {}}));
}
