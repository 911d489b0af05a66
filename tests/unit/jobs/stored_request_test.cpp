#include "jobs/stored_request.hpp"

#include <doctest/doctest.h>

#include <string>

#include "unit/http/requests.hpp"

using namespace spillway;
using namespace spillway::jobs;

namespace {

const JobId kId{{0xab, 0xcd}};
constexpr std::string_view kIdText = "abcd0000000000000000000000000000";

std::string sent(std::string_view stored, std::uint32_t attempt) {
  std::string out = "what was there before";
  head_for_attempt(stored, kId, attempt, out);
  return out;
}

}  // namespace

TEST_CASE("a stored head has the length of the whole body, and nothing of this connection") {
  const std::string stored = stored_head(
      "POST /orders?a=b HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n"
      "te: trailers\r\nTrailer: X-Sum\r\nEXPECT: 100-continue\r\nConnection: te\r\n"
      "Prefer: respond-async, wait=5\r\nX-A: 1\r\nx-a: 2\r\nPreferred: yes\r\n\r\n",
      http::Verb::post, 17);
  CHECK(stored ==
        "POST /orders?a=b HTTP/1.1\r\nHost: shop\r\nX-A: 1\r\nx-a: 2\r\nPreferred: yes\r\n"
        "Content-Length: 17\r\n\r\n");
}

TEST_CASE("an empty body has a length only where the method has a body by its meaning") {
  const std::string head = "X /a HTTP/1.1\r\nHost: shop\r\nContent-Length: 5\r\n\r\n";
  for (const auto method : {http::Verb::post, http::Verb::put, http::Verb::patch}) {
    CHECK(http::has_line(stored_head(head, method, 0), "Content-Length: 0"));
  }
  for (const auto method : {http::Verb::get, http::Verb::delete_, http::Verb::unknown}) {
    CHECK_FALSE(http::has_field(stored_head(head, method, 0), "Content-Length"));
    CHECK(http::has_line(stored_head(head, method, 1), "Content-Length: 1"));
  }
}

TEST_CASE("a forwarded request is stored as one that can be read again") {
  const std::string forwarded = http::forward(
      "PUT /orders/7 HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n"
      "Prefer: respond-async\r\nCookie: a=b\r\n\r\n",
      http::kClient);
  const std::string text = sent(stored_head(forwarded, http::Verb::put, 3), 1);
  http::RequestHead head;
  REQUIRE(http::read_request(text, head) == http::Error::none);
  CHECK(head.method == http::Verb::put);
  CHECK(head.path_and_query == "/orders/7");
  CHECK(head.framing.kind == http::Framing::Kind::length);
  CHECK(head.framing.length == 3);
  CHECK(http::has_line(text, "Cookie: a=b"));
  CHECK(http::has_field(text, "Via"));
}

TEST_CASE("an attempt says its number, and the job's id as the key unless the client sent one") {
  const std::string stored = "PUT /a HTTP/1.1\r\nHost: shop\r\n\r\n";
  CHECK(sent(stored, 3) == "PUT /a HTTP/1.1\r\nHost: shop\r\nIdempotency-Key: \"" +
                               std::string(kIdText) + "\"\r\nSpillway-Attempt: 3\r\n\r\n");
  const std::string with_key = "PUT /a HTTP/1.1\r\nidempotency-key: \"mine\"\r\n\r\n";
  CHECK(sent(with_key, 1) ==
        "PUT /a HTTP/1.1\r\nidempotency-key: \"mine\"\r\nSpillway-Attempt: 1\r\n\r\n");
  // negative control: a field whose value speaks of one is none
  CHECK(http::has_field(sent("PUT /a HTTP/1.1\r\nX: Idempotency-Key: a\r\n\r\n", 1),
                        "Idempotency-Key"));
}

TEST_CASE("all attempts of a job have the same key") {
  const std::string stored = "POST /a HTTP/1.1\r\nHost: shop\r\n\r\n";
  const std::string line = "Idempotency-Key: \"" + std::string(kIdText) + "\"";
  for (const std::uint32_t attempt : {1u, 2u, 4'294'967'295u}) {
    CHECK(http::has_line(sent(stored, attempt), line));
  }
}

TEST_CASE("what is no head is not stored") {
  CHECK(stored_head("", http::Verb::post, 1).empty());
  CHECK(stored_head("POST / HTTP/1.1", http::Verb::post, 1).empty());
}

TEST_CASE("an answer's end-to-end fields are kept as they came, cookies and duplicates too") {
  const std::string text =
      "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 3\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n"
      "Connection: keep-alive, X-Hop\r\nKeep-Alive: timeout=5\r\nX-Hop: 1\r\n"
      "Spillway-Job: cut\r\n"
      "Content-Type: text/plain\r\n\r\nabc";
  http::ResponseHead head;
  REQUIRE(http::read_response(text, http::Verb::get, head) == http::Error::none);
  CHECK(stored_fields(head) ==
        "Server: x\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nContent-Type: text/plain\r\n");
}

TEST_CASE("an answer in chunks is stored without its framing and its trailers") {
  const std::string text =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\nETag: \"a\"\r\n\r\n";
  http::ResponseHead head;
  REQUIRE(http::read_response(text, http::Verb::get, head) == http::Error::none);
  CHECK(stored_fields(head) == "ETag: \"a\"\r\n");
}
