// What finds a smuggled request must find it, and nothing else.
#include "system/wire/reading.hpp"

#include <doctest/doctest.h>

#include "system/wire/messages.hpp"

namespace spillway::wire {
namespace {

TEST_CASE("sound requests are read the same strictly and leniently") {
  const std::string all = get("/a") + post("abc") +
                          chunked_post("3;a=\"b\"\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n") + get("/b");
  const Reading reading = read_strictly(all);
  CHECK(reading.trouble.empty());
  REQUIRE(reading.requests.size() == 4);
  CHECK(reading.begun == 4);
  CHECK(lenient_count(all) == 4);
  CHECK(reading.requests[1].body == "abc");
  CHECK(reading.requests[2].body == "abc");
  CHECK(reading.requests[2].trailers.size() == 1);
  CHECK(reading.requests[3].target() == "/b");
}

TEST_CASE("a request that is cut off has begun and is not complete") {
  for (const std::string& all : {get("/a"), post("abc"), chunked_post("3\r\nabc\r\n0\r\n\r\n")}) {
    for (std::size_t size = 1; size < all.size(); ++size) {
      const Reading reading = read_strictly(all.substr(0, size));
      CHECK(reading.trouble.empty());
      CHECK(reading.requests.empty());
      CHECK(reading.begun == 1);
      CHECK(lenient_count(all.substr(0, size)) == 1);
    }
  }
}

TEST_CASE("what two servers read differently is found out") {
  const std::string last = "0\r\n\r\n";
  for (const std::string& all :
       {framed("Content-Length: 48\r\nTransfer-Encoding: chunked\r\n", last + smuggled()),
        framed("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", last),
        framed("Content-Length: 0\r\nContent-Length: 43\r\n", smuggled()),
        framed("Content-Length: 43, 0\r\n", smuggled()),
        framed("Content-Length: +43\r\n", smuggled()),
        framed("Content-Length: 18446744073709551619\r\n", "abc" + smuggled()),
        framed("Transfer-Encoding: xchunked\r\n", last + smuggled()),
        framed("Transfer-Encoding : chunked\r\n", last + smuggled()),
        framed("X-A: 1\nTransfer-Encoding: chunked\r\n", last + smuggled()),
        framed("X-A: 1\r\n Transfer-Encoding: chunked\r\n", last),
        chunked_post("0x3\r\nabc\r\n" + last),
        chunked_post("3\nabc\r\n" + last),
        chunked_post("3;a=\n\r\nabc\r\n" + last),
        chunked_post("3\r\nabcd\r\n" + last),
        chunked_post("3 \r\nabc\r\n" + last),
        get("/", "Host: b.example\r\n"),
        get("/", "X A: 1\r\n"),
        get("/", ": 1\r\n"),
        get("/", "nonsense\r\n"),
        get("/", std::string("X-A: \0\r\n", 8)),
        std::string("GET / HTTP/1.1\r\n\r\n"),
        std::string("GET / HTTP/1.1\nHost: a\n\n"),
        std::string("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
        std::string("GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
        std::string("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n") + last}) {
    CHECK_MESSAGE(!read_strictly(all).trouble.empty(), all);
  }
}

TEST_CASE("a lenient reader finds the request that a kind server would find") {
  const std::string last = "0\r\n\r\n";
  CHECK(lenient_count(framed("Content-Length: 48\r\nTransfer-Encoding: chunked\r\n",
                             last + smuggled())) == 2);
  CHECK(lenient_count(framed("Content-Length: 0\r\nContent-Length: 43\r\n", smuggled())) == 2);
  CHECK(lenient_count(framed("Transfer-Encoding : chunked\r\n", last + smuggled())) == 2);
  CHECK(lenient_count(get("/", "\n" + smuggled())) == 2);
  CHECK(lenient_count(post(smuggled())) == 1);
}

}  // namespace
}  // namespace spillway::wire
