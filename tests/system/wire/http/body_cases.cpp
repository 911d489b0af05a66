#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

const std::string kHead = "HEAD / HTTP/1.1\r\nHost: a.example\r\n\r\n";
const std::string kEvil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";

std::string chunked(std::string_view chunks, std::string_view lines = {}) {
  return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + std::string(lines) + "\r\n" +
         std::string(chunks);
}

}  // namespace

std::vector<Case> body_cases() {
  const std::string large(300'000, 'x');
  return {
      must("9112 6.2", "a response's body is as long as its Content-Length says",
           sends(get())
               .answered(ok("abcdef"))
               .passes()
               .with("Content-Length", "6")
               .body("abcdef")
               .open()),
      must("9112 6.2", "a response of 300000 bytes arrives whole",
           sends(get()).answered(ok(large)).passes().body(large).open()),
      must("9112 6.2", "a response without a body is one",
           sends(get()).answered(ok("")).passes().body("").open()),
      must("9112 7.1", "a response in chunks arrives whole",
           sends(get())
               .answered(chunked("3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"))
               .passes()
               .body("abcdefg")
               .open()),
      must("9112 7.1", "a response in chunks with extensions arrives whole",
           sends(get())
               .answered(chunked("3;a=\"b;c\"\r\nabc\r\n0;d\r\n\r\n"))
               .passes()
               .body("abc")
               .open()),
      must("9112 7.1", "a response in chunks may be empty",
           sends(get()).answered(chunked("0\r\n\r\n")).passes().body("").open()),
      must("9112 7.1", "a chunk of 300000 bytes arrives whole",
           sends(get())
               .answered(chunked("493e0\r\n" + large + "\r\n0\r\n\r\n"))
               .passes()
               .body(large)
               .open()),
      ours("a response's trailers arrive",
           sends(get())
               .answered(chunked("3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n", "Trailer: X-Sum\r\n"))
               .passes()
               .with("Trailer", "X-Sum")
               .body("abc")
               .satisfies([](const Observation& seen) -> std::string {
                 const support::Fields expected{{"X-Sum", "1"}};
                 return seen.responses[0].trailers == expected ? "" : "the trailers are missing";
               })
               .open()),
      must("9110 7.6.1", "a trailer that a response's Connection names ends here",
           sends(get())
               .answered(chunked("3\r\nabc\r\n0\r\nX-Hop: 1\r\n\r\n", "Connection: X-Hop\r\n"))
               .passes()
               .body("abc")
               .satisfies([](const Observation& seen) -> std::string {
                 return seen.responses[0].trailers.empty() ? "" : "the trailer reached the client";
               })),
      must("9112 6.3", "a response without framing ends with the connection",
           sends(get()).answered(raw("HTTP/1.1 200 OK\r\n\r\nabc").closing()).passes().body("abc")),
      must("9112 6.3", "a response without framing ends with the connection in pieces too",
           sends(get())
               .answered(raw_pieces({"HTTP/1.1 200 OK\r\n\r\nabc", "def", "ghi"}).closing())
               .passes()
               .body("abcdefghi")),
      must("9112 6.3", "a response of HTTP/1.0 ends with the connection",
           sends(get()).answered(raw("HTTP/1.0 200 OK\r\n\r\nabc").closing()).passes().body("abc")),
      must("9112 2.3", "a response of HTTP/1.0 with a length is passed on as one of HTTP/1.1",
           sends(get())
               .answered(raw("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc").closing())
               .passes()
               .body("abc")
               .satisfies([](const Observation& seen) -> std::string {
                 const std::string& line = seen.responses[0].start_line;
                 return line.starts_with("HTTP/1.1 ") ? "" : line;
               })
               .open()),
      must("9110 9.3.2", "a response to HEAD has no body and keeps its length",
           sends(kHead)
               .answered("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
               .passes()
               .with("Content-Length", "1000")
               .open()),
      must("9112 6.3", "a response to HEAD has no body though it says that it is in chunks",
           sends(kHead).answered(chunked("")).passes().open()),
      must("9112 6.3", "a response to HEAD needs no framing",
           sends(kHead)
               .answered("HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\n")
               .passes()
               .with("X-A", "1")
               .open()),
      must("9112 6.3", "a body that follows a response to HEAD is no response to the next request",
           sends(kHead)
               .answered(raw("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kEvil.size()) +
                             "\r\n\r\n" + kEvil))
               .passes()
               .open()),
      must("9110 15.3.5", "204 has no body and no length",
           sends(get())
               .answered("HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n")
               .status(204)
               .with("X-A", "1")
               .without("Transfer-Encoding")
               .open()),
      must("9110 8.6", "204 goes on without the length that it should not have",
           sends(get())
               .answered("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n")
               .status(204)
               .without("Content-Length")
               .open()
               .or_else()
               .bad_gateway()),
      must("9112 6.3", "what follows 204 is no response to the next request",
           sends(get())
               .answered("HTTP/1.1 204 No Content\r\nContent-Length: " +
                         std::to_string(kEvil.size()) + "\r\n\r\n" + kEvil)
               .status(204)
               .without("Content-Length")
               .open()
               .or_else()
               .bad_gateway()),
      must("9112 6.1", "204 goes on without the coding that it should not have",
           sends(get())
               .answered(raw("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "0\r\n\r\n"))
               .status(204)
               .without("Transfer-Encoding")
               .open()
               .or_else()
               .bad_gateway()),
      must("9110 15.4.5", "304 has no body and keeps its fields",
           sends(get())
               .answered("HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\nETag: \"a\"\r\n\r\n")
               .status(304)
               .with("ETag", "\"a\"")
               .open()),
      must("9112 6.3", "what follows 304 is no response to the next request",
           sends(get())
               .answered("HTTP/1.1 304 Not Modified\r\nContent-Length: " +
                         std::to_string(kEvil.size()) + "\r\n\r\n" + kEvil)
               .status(304)
               .open()),
      must("9112 6.3", "a second response to one request goes to no client",
           sends(get()).answered(ok().pieces[0] + kEvil).passes().body("ok").open()),
      must("9112 6.3", "a second response behind chunks goes to no client",
           sends(get())
               .answered(chunked("2\r\nok\r\n0\r\n\r\n") + kEvil)
               .passes()
               .body("ok")
               .open()),
      must("9112 6.3", "a second response that comes later goes to no client",
           sends(get())
               .awaits_answered()
               .answered(raw_pieces({ok().pieces[0], kEvil}))
               .passes()
               .body("ok")
               .open()),
      must("9112 6.2", "a body that looks like a response is none",
           sends(get()).answered(ok(kEvil)).passes().body(kEvil).open()),
      must("9112 6.2", "a response in many pieces arrives whole",
           sends(get())
               .answered(raw_pieces(
                   {"HTTP/1.1 2", "00 OK\r", "\nContent-", "Length: 4\r\n\r", "\nab", "cd"}))
               .passes()
               .body("abcd")
               .open())};
}

}  // namespace spillway::wire
