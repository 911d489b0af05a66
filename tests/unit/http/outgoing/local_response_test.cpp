#include "http/outgoing/local_response.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace spillway;
using namespace spillway::http;

namespace {

template <class Head>
std::string written(bool (*write)(TextWriter&, const Head&, const ForwardedResponse&),
                    const Head& head, const ForwardedResponse& with = {}) {
  std::array<char, 2048> block;
  TextWriter out(block);
  CHECK(write(out, head, with));
  return std::string(out.text());
}

const StoredHead kStored{.status = 200,
                         .reason_phrase = "Fine",
                         .lines = "Date: D\r\nContent-Type: a/b\r\nETag: \"1\"\r\nX-Own: x\r\n",
                         .content_length = 5,
                         .age = 7};

}  // namespace

TEST_CASE("a stored response has its own fields and its age") {
  ForwardedResponse with;
  with.request_id = "0123";
  with.degraded = "stale_ok";
  with.degraded_for = Reason::error_burst;
  with.cache_status = {.has_cache = true, .hit = true, .ttl = -2};
  CHECK(written(write_stored_head, kStored, with) ==
        "HTTP/1.1 200 Fine\r\nDate: D\r\nContent-Type: a/b\r\nETag: \"1\"\r\nX-Own: x\r\n"
        "Content-Length: 5\r\nAge: 7\r\nVia: 1.1 spillway\r\nX-Request-Id: 0123\r\n"
        "Spillway-Degraded: mode=stale_ok; reason=ERROR_BURST\r\n"
        "Cache-Status: spillway; hit; ttl=-2\r\n\r\n");
}

TEST_CASE("a part of a stored response says which one it is") {
  StoredHead head = kStored;
  head.part = {1, 3};
  CHECK(
      written(write_stored_head, head) ==
      "HTTP/1.1 206 Partial Content\r\nDate: D\r\nContent-Type: a/b\r\nETag: \"1\"\r\nX-Own: x\r\n"
      "Content-Range: bytes 1-3/5\r\nContent-Length: 3\r\nAge: 7\r\nVia: 1.1 spillway\r\n\r\n");
}

TEST_CASE("a client that has it already is told only what concerns its copy") {
  CHECK(
      written(write_not_modified_head, kStored) ==
      "HTTP/1.1 304 Not Modified\r\nDate: D\r\nETag: \"1\"\r\nAge: 7\r\nVia: 1.1 spillway\r\n\r\n");
}

TEST_CASE("a fallback is not cacheable unless its fields allow it") {
  FallbackHead head{.status = 503, .content_type = "text/html", .content_length = 3};
  ForwardedResponse with;
  with.date = "D";
  with.keep_alive = false;
  CHECK(written(write_fallback_head, head, with) ==
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html\r\nContent-Length: 3\r\n"
        "Cache-Control: no-store\r\nDate: D\r\nConnection: close\r\n\r\n");
  head.lines = "Cache-Control: max-age=5\r\nContent-Type: text/plain\r\n";
  head.content_type = {};
  head.varies = head.is_final = true;
  CHECK(
      written(write_fallback_head, head) ==
      "HTTP/1.1 503 Service Unavailable\r\nCache-Control: max-age=5\r\nContent-Type: text/plain\r\n"
      "Content-Length: 3\r\nVary: Accept\r\n\r\n");
}

TEST_CASE("a block that is too small is noticed") {
  std::array<char, 60> block;
  TextWriter out(block);
  CHECK_FALSE(write_stored_head(out, kStored, {}));
}
