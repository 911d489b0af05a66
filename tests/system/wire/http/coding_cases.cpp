#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

const std::string kLastChunk = "0\r\n\r\n";

// A request whose framing says "chunked" somehow, and its body; a reader that takes it for a
// request without a body goes on with what looks like another.
std::string coded(const std::string& lines) { return framed(lines, kLastChunk + smuggled()); }

// What ends the body is unknown: 400 (or 501), and the connection is closed.
Case no_end(std::string sentence, const std::string& lines) {
  return must("9112 6.3", std::move(sentence), sends(coded(lines)).refused({400, 501}).closed());
}

Case is_chunked(std::string sentence, const std::string& line) {
  return must(
      "9112 6.1", std::move(sentence),
      sends(framed(line + "\r\n", "3\r\nabc\r\n0\r\n\r\n")).passes().asked_body("abc").open());
}

// Of both, Transfer-Encoding counts, and the connection ends; or the request is refused.
Case both(std::string sentence, const std::string& lines, const std::string& rest) {
  return must("9112 6.3", std::move(sentence),
              sends(framed(lines, rest))
                  .refused()
                  .or_else()
                  .passes()
                  .asked_without("Content-Length")
                  .closed());
}

std::string length_of(const std::string& body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n";
}

}  // namespace

std::vector<Case> coding_cases() {
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const std::string tail = kLastChunk + smuggled();
  return {
      both("Content-Length before Transfer-Encoding does not count", length_of(tail) + chunked,
           tail),
      both("Content-Length behind Transfer-Encoding does not count", chunked + length_of(tail),
           tail),
      both("a Content-Length that ends inside the chunks does not count",
           "Content-Length: 3\r\n" + chunked, "3\r\nabc\r\n0\r\n\r\n"),
      both("a Content-Length of 0 beside Transfer-Encoding does not count",
           "Content-Length: 0\r\n" + chunked, "3\r\nabc\r\n0\r\n\r\n"),
      ours("Content-Length and Transfer-Encoding together are refused",
           sends(framed("Content-Length: 5\r\n" + chunked, kLastChunk))
               .refused()
               .untouched()
               .closed()),
      is_chunked("chunked is chunked", "Transfer-Encoding: chunked"),
      is_chunked("chunked is chunked in capitals", "Transfer-Encoding: CHUNKED"),
      is_chunked("a field name in small letters frames as well", "transfer-encoding: chunked"),
      is_chunked("chunked needs no space before it", "Transfer-Encoding:chunked"),
      is_chunked("chunked may have a tab before it", "Transfer-Encoding:\tchunked"),
      is_chunked("chunked may have spaces and tabs behind it", "Transfer-Encoding: chunked \t "),
      no_end("a coding that is not chunked at the end is refused", "Transfer-Encoding: gzip\r\n"),
      no_end("chunked before another coding is refused", "Transfer-Encoding: chunked, gzip\r\n"),
      no_end("identity is no coding any more", "Transfer-Encoding: identity\r\n"),
      no_end("xchunked is not chunked", "Transfer-Encoding: xchunked\r\n"),
      no_end("chunkedx is not chunked", "Transfer-Encoding: chunkedx\r\n"),
      no_end("quoted chunked is not chunked", "Transfer-Encoding: \"chunked\"\r\n"),
      no_end("chunked in two words is not chunked", "Transfer-Encoding: chunk ed\r\n"),
      no_end("chunked behind another word is not chunked", "Transfer-Encoding: x chunked\r\n"),
      no_end("chunked in one field and another coding in the next is refused",
             chunked + "Transfer-Encoding: gzip\r\n"),
      no_end("chunked in one field and identity in the next is refused",
             chunked + "Transfer-Encoding: identity\r\n"),
      no_end("an unknown coding beside a Content-Length is refused",
             "Transfer-Encoding: xchunked\r\n" + length_of(tail)),
      no_end("a Content-Length does not help an unknown coding",
             length_of(kLastChunk) + "Transfer-Encoding: cow\r\n"),
      must("9110 5.5", "chunked behind a vertical tab is refused",
           sends(coded("Transfer-Encoding: \x0b"
                       "chunked\r\n"))
               .refused({400, 501})
               .closed()),
      must("9110 5.5", "chunked before a NUL is refused",
           sends(coded(std::string("Transfer-Encoding: chunked\0\r\n", 29)))
               .refused({400, 501})
               .closed()),
      must("9110 5.5", "chunked behind a form feed is refused",
           sends(coded("Transfer-Encoding: \fchunked\r\n")).refused({400, 501}).closed()),
      must("9112 5.1", "Transfer-Encoding with a space before its colon is refused",
           sends(coded("Transfer-Encoding : chunked\r\n")).refused().closed()),
      must("9112 5.1", "Transfer-Encoding with a tab before its colon is refused",
           sends(coded("Transfer-Encoding\t: chunked\r\n")).refused().closed()),
      must("9112 5.2", "a folded Transfer-Encoding is refused or unfolded",
           sends(framed("Transfer-Encoding:\r\n chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"))
               .refused({400, 501})
               .or_else()
               .passes()
               .asked_body("abc")),
      must("9112 5.2", "a Transfer-Encoding in a folded line belongs to the line before it",
           sends(
               framed("Content-Length: 5\r\nX-A: 1\r\n Transfer-Encoding: chunked\r\n", kLastChunk))
               .refused()
               .or_else()
               .passes()
               .asked_without("Transfer-Encoding")),
      must("9112 7.1", "chunked twice in a field is refused or made one",
           sends(framed("Transfer-Encoding: chunked, chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"))
               .refused({400, 501})
               .or_else()
               .passes()),
      must("9112 7.1", "chunked in two fields is refused or made one",
           sends(framed(chunked + chunked, "3\r\nabc\r\n0\r\n\r\n"))
               .refused({400, 501})
               .or_else()
               .passes()),
      must("9110 5.6.1", "chunked beside an empty list element is refused or made one",
           sends(framed("Transfer-Encoding: , chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"))
               .refused({400, 501})
               .or_else()
               .passes()
               .asked_body("abc")),
      ours("chunked twice is refused",
           sends(framed("Transfer-Encoding: chunked, chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"))
               .refused()
               .untouched()
               .closed()),
      ours("an empty Transfer-Encoding is refused",
           sends(framed("Transfer-Encoding:\r\n", kLastChunk))
               .refused({400, 501})
               .untouched()
               .closed()),
      should("9112 7.1", "chunked with a parameter is refused",
             sends(coded("Transfer-Encoding: chunked;a=1\r\n")).refused({400, 501}).closed()),
      should("9112 6.1", "a coding before chunked that is not understood gets 501",
             sends(framed("Transfer-Encoding: gzip, chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"))
                 .refused({501})
                 .closed()),
      must("9112 6.1", "Transfer-Encoding in an HTTP/1.0 request is not believed",
           sends("POST / HTTP/1.0\r\nHost: a.example\r\nConnection: keep-alive\r\n" + chunked +
                 "\r\n" + tail)
               .refused({400, 411, 501})
               .closed()
               .or_else()
               .passes()
               .closed()),
      must("9112 6.1", "nor is it beside a Content-Length in HTTP/1.0",
           sends("POST / HTTP/1.0\r\nHost: a.example\r\nConnection: keep-alive\r\n" + chunked +
                 length_of(kLastChunk) + "\r\n" + tail)
               .refused({400, 411, 501})
               .closed()
               .or_else()
               .passes()
               .closed()),
      ours("Transfer-Encoding in an HTTP/1.0 request is refused",
           sends("POST / HTTP/1.0\r\nHost: a.example\r\n" + chunked + "\r\n" + kLastChunk)
               .refused()
               .untouched()
               .closed()),
      ours("a GET with chunks has a body too",
           sends("GET / HTTP/1.1\r\nHost: a.example\r\n" + chunked + "\r\n3\r\nabc\r\n0\r\n\r\n")
               .passes()
               .asked_body("abc")
               .open()),
      must("9112 6.1", "TE does not say how a request is framed",
           sends("GET / HTTP/1.1\r\nHost: a.example\r\nConnection: TE\r\nTE: chunked\r\n\r\n" +
                 get("/second"))
               .statuses({200, 200})
               .requests(2))};
}

}  // namespace spillway::wire
