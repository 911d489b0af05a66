#include "proxy/call/rest_of_response.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace spillway::proxy {
namespace {

using Next = RestOfResponse::Next;

RestOfResponse unanswered(http::Verb method = http::Verb::get) {
  return {{.head_bytes = 1024}, method};
}

// As a caller does: bytes of a head are kept until it has come. When the response has ended, or
// could not be understood, the number of bytes that told.
struct Told {
  Next next = Next::more;
  std::size_t bytes = 0;
};
Told read_in_pieces(RestOfResponse rest, std::string_view wire, std::size_t piece) {
  std::string kept;
  for (std::size_t at = 0; at < wire.size();) {
    const std::string_view bytes = wire.substr(at, piece);
    at += bytes.size();
    kept += bytes;
    const Next next = rest.read(kept);
    if (next == Next::ended || next == Next::unknown) return {next, at};
    CHECK((next == Next::more_of_head) == rest.awaits_head());
    if (next == Next::more) kept.clear();
  }
  return {Next::more, wire.size()};
}

}  // namespace

TEST_CASE("a response has ended with its last byte, in pieces of any size") {
  const std::vector<std::string> responses = {
      "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone", "HTTP/1.1 204 No Content\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ndone\r\n0\r\nA: b\r\n\r\n",
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
      "HTTP/1.1 500 No\r\nContent-Length: 1\r\n\r\nx"};
  for (const std::string& response : responses) {
    CAPTURE(response);
    for (std::size_t piece = 1; piece <= response.size(); ++piece) {
      CAPTURE(piece);
      const Told told = read_in_pieces(unanswered(), response, piece);
      CHECK(told.next == Next::ended);
      CHECK(told.bytes == response.size());
    }
  }
}

TEST_CASE("an event stream is known by its head, but for one that has ended") {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
  CHECK(unanswered().read(head + "\r\n") == Next::streams);
  CHECK(unanswered().read(head + "\r\ndata: 1\n\n") == Next::streams);
  CHECK(unanswered().read(head + "Content-Length: 9\r\n\r\ndata: 1\n\n") == Next::ended);
  CHECK(unanswered(http::Verb::post).read(head + "\r\n") == Next::more);
  CHECK(unanswered().read("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n") == Next::more);
}

TEST_CASE("a response to HEAD has ended with its head") {
  RestOfResponse rest = unanswered(http::Verb::head);
  CHECK(rest.read("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n") == Next::ended);
}

TEST_CASE("without a length only the end of the connection ends a response") {
  RestOfResponse rest = unanswered();
  CHECK(rest.read("HTTP/1.1 200 OK\r\n\r\ndone") == Next::more);
  CHECK(rest.read("and more") == Next::more);
}

TEST_CASE("of a body that was read in part the rest is read") {
  http::BodyReader body({http::Framing::Kind::length, 10}, http::BodyReader::kNoLimit,
                        http::BodyReader::MessageKind::response);
  body.read("0123");
  RestOfResponse rest(body);
  CHECK_FALSE(rest.awaits_head());
  CHECK(rest.read("4567") == Next::more);
  CHECK(rest.read("89") == Next::ended);
}

TEST_CASE("what cannot be understood has no end") {
  CHECK(unanswered().read("SSH-2.0-OpenSSH_9.2\r\n\r\n") == Next::unknown);
  CHECK(unanswered().read("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n"
                          "Connection: upgrade\r\n\r\n") == Next::unknown);
  CHECK(unanswered().read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n") ==
        Next::unknown);
}

TEST_CASE("nor has what comes behind it, in pieces of any size") {
  for (const char* const interim : {"", "HTTP/1.1 103 Early Hints\r\n\r\n"}) {
    for (const char* const odd :
         {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
          "SSH-2.0-OpenSSH_9.2\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n"}) {
      CAPTURE(interim);
      CAPTURE(odd);
      RestOfResponse rest = unanswered();
      CHECK(rest.read(std::string(interim) + odd) == Next::unknown);
      CHECK(rest.read("hi") == Next::unknown);
      CHECK(rest.read("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") == Next::unknown);
    }
  }
}

}  // namespace spillway::proxy
