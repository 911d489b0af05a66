#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

std::string head(std::string_view lines) {
  return "HTTP/1.1 200 OK\r\n" + std::string(lines) + "\r\n";
}

const std::string kChunked = "Transfer-Encoding: chunked\r\n";

// RFC 9112 section 6.3: the connection to the origin is closed, its response discarded, and 502
// sent.
Case no_length(std::string sentence, const std::string& lines) {
  return must("9112 6.3", std::move(sentence),
              sends(get()).answered(raw(head(lines + "\r\n") + "abc").closing()).bad_gateway());
}

// A response whose end is ambiguous: a bad gateway, or made sound.
Case unclear(std::string sentence, const std::string& lines, const std::string& rest) {
  return must(
      "9112 6.3", std::move(sentence),
      sends(get()).answered(raw(head(lines) + rest).closing()).bad_gateway().or_else().passes());
}

// RFC 9112 section 6.3 lets equal values be one.
Case made_one(std::string sentence, const std::string& lines) {
  return ours(std::move(sentence), sends(get())
                                       .answered(head(lines) + "abc")
                                       .passes()
                                       .body("abc")
                                       .with("Content-Length", "3")
                                       .open());
}

// The origin's connection ends before the response does. Never complete for the client.
Case cut_off(std::string sentence, Answer answer) {
  return must("9112 8", std::move(sentence), sends(get()).answered(answer.closing()).broken_off());
}

// Bytes where there should be a chunk, once the client has got one.
Case no_chunk(std::string sentence, const std::string& bytes) {
  return must("9112 7.1", std::move(sentence),
              sends(get())
                  .answered(raw_pieces({head(kChunked) + "3\r\nabc\r\n", bytes + "0\r\n\r\n"}))
                  .broken_off());
}

Case early_no_chunk(std::string sentence, const std::string& bytes) {
  return ours(std::move(sentence),
              sends(get()).answered(head(kChunked) + bytes + "0\r\n\r\n").bad_gateway());
}

Case for_old_client(std::string sentence, Answer answer) {
  return must(
      "9112 8", std::move(sentence),
      sends("GET / HTTP/1.0\r\nHost: a.example\r\n\r\n").answered(answer.closing()).broken_off());
}

// A field that must be known before the content. The response is good otherwise.
Case no_trailer(const std::string& name, const std::string& value) {
  return ours(name + " is no trailer of a response",
              sends(get())
                  .answered(head(kChunked) + "3\r\nabc\r\n0\r\n" + name + ": " + value +
                            "\r\nX-Sum: 1\r\n\r\n")
                  .passes()
                  .body("abc")
                  .satisfies([](const Observation& seen) -> std::string {
                    const support::Fields expected{{"X-Sum", "1"}};
                    return seen.responses[0].trailers == expected ? "" : "the trailers are others";
                  }));
}

}  // namespace

std::vector<Case> response_framing_cases() {
  const std::string large(200'000, 'x');
  return {
      no_length("a response's Content-Length of letters is a bad gateway", "Content-Length: abc"),
      no_length("a response's Content-Length with a plus is a bad gateway", "Content-Length: +3"),
      no_length("a response's negative Content-Length is a bad gateway", "Content-Length: -3"),
      no_length("a response's empty Content-Length is a bad gateway", "Content-Length:"),
      no_length("a response's hexadecimal Content-Length is a bad gateway", "Content-Length: 0x3"),
      no_length("a response's Content-Length with something behind it is a bad gateway",
                "Content-Length: 3 bytes"),
      no_length("a response's Content-Length with a fraction is a bad gateway",
                "Content-Length: 3.0"),
      no_length("a response's Content-Length of 2^64 and 3 is a bad gateway",
                "Content-Length: 18446744073709551619"),
      no_length("a response's Content-Length of 2^63 is a bad gateway",
                "Content-Length: 9223372036854775808"),
      no_length("a response's list of different Content-Lengths is a bad gateway",
                "Content-Length: 3, 2"),
      no_length("a response's two different Content-Lengths are a bad gateway",
                "Content-Length: 3\r\nContent-Length: 2"),
      no_length("a response's two different Content-Lengths are a bad gateway in either order",
                "Content-Length: 0\r\nContent-Length: 3"),
      unclear("a response's equal Content-Lengths are a bad gateway or made one",
              "Content-Length: 3\r\nContent-Length: 3\r\n", "abc"),
      unclear("a response's list of equal Content-Lengths is a bad gateway or made one",
              "Content-Length: 3, 3\r\n", "abc"),
      unclear("a response with Content-Length and Transfer-Encoding is a bad gateway or made clear",
              "Content-Length: 13\r\n" + kChunked, "3\r\nabc\r\n0\r\n\r\n"),
      unclear("a response with Transfer-Encoding and Content-Length is a bad gateway or made clear",
              kChunked + "Content-Length: 13\r\n", "3\r\nabc\r\n0\r\n\r\n"),
      unclear("a response's unknown Transfer-Encoding is a bad gateway or taken off",
              "Transfer-Encoding: xchunked\r\n", "abc"),
      unclear("a response's gzip before chunked is a bad gateway or taken off",
              "Transfer-Encoding: gzip, chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"),
      unclear("a response that is chunked twice is a bad gateway or made clear",
              "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
              "3\r\nabc\r\n0\r\n\r\n"),
      unclear("a response's Transfer-Encoding with a space before its colon is a bad gateway or "
              "made clear",
              "Transfer-Encoding : chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"),
      must("9112 6.1", "Transfer-Encoding in a response of HTTP/1.0 is not believed",
           sends(get())
               .answered(
                   raw("HTTP/1.0 200 OK\r\n" + kChunked + "\r\n3\r\nabc\r\n0\r\n\r\n").closing())
               .bad_gateway()
               .or_else()
               .passes()),
      ours("a response with Content-Length and Transfer-Encoding is a bad gateway",
           sends(get())
               .answered(raw(head("Content-Length: 13\r\n" + kChunked) + "3\r\nabc\r\n0\r\n\r\n")
                             .closing())
               .bad_gateway()),
      cut_off("a body shorter than its Content-Length is never complete",
              raw(head("Content-Length: 10\r\n") + "abc")),
      cut_off("a body shorter than its Content-Length is never complete when it comes in pieces",
              raw_pieces({head("Content-Length: 10\r\n") + "abc", "def"})),
      cut_off("a head whose body never comes is never complete",
              raw(head("Content-Length: 10\r\n"))),
      cut_off("a large body that breaks off is never complete",
              raw(head("Content-Length: 300000\r\n") + large)),
      must("9112 8", "a body that is reset is never complete",
           sends(get())
               .answered(raw_pieces({head("Content-Length: 10\r\n") + "abc", "def"}).resetting())
               .broken_off()),
      must("9112 8", "chunks that are reset are never complete",
           sends(get())
               .answered(raw_pieces({head(kChunked) + "3\r\nabc\r\n", "3\r\ndef\r\n"}).resetting())
               .broken_off()),
      cut_off("chunks without the last one are never complete",
              raw(head(kChunked) + "3\r\nabc\r\n")),
      cut_off("chunks without the last one are never complete when they come in pieces",
              raw_pieces({head(kChunked) + "3\r\nabc\r\n", "3\r\ndef\r\n"})),
      cut_off("a chunk that breaks off is never complete", raw(head(kChunked) + "a\r\nabc")),
      cut_off("a chunk size that breaks off is never complete",
              raw_pieces({head(kChunked) + "3\r\nabc\r\n", "1"})),
      cut_off("a last chunk without the line behind it is never complete",
              raw_pieces({head(kChunked) + "3\r\nabc\r\n", "0\r\n"})),
      cut_off("no chunk at all is never complete", raw(head(kChunked))),
      for_old_client("HTTP/1.0 does not get broken chunks as a complete body",
                     raw_pieces({head(kChunked) + "3\r\nabc\r\n", "3\r\nde"})),
      for_old_client("HTTP/1.0 does not get chunks without the last one as a complete body",
                     raw_pieces({head(kChunked) + "3\r\nabc\r\n", "3\r\ndef\r\n"})),
      for_old_client("HTTP/1.0 does not get a short body as a complete one",
                     raw_pieces({head("Content-Length: 10\r\n") + "abc", "def"})),
      no_chunk("a response's chunk size of letters is never complete", "xyz\r\n"),
      no_chunk("a response's chunk size with 0x is never complete", "0x3\r\nabc\r\n"),
      no_chunk("a response's negative chunk size is never complete", "-3\r\nabc\r\n"),
      no_chunk("a response's chunk size with a plus is never complete", "+3\r\nabc\r\n"),
      no_chunk("a response's empty chunk size is never complete", "\r\n"),
      no_chunk("a response's chunk size beyond 64 bits is never complete",
               "10000000000000003\r\nabc\r\n"),
      no_chunk("a response's chunk that is too long is never complete", "3\r\nabcd\r\n"),
      no_chunk("a response's chunk that is too short is never complete", "4\r\nabc\r\n"),
      early_no_chunk("a response's broken first chunk is a bad gateway", "xyz\r\n"),
      early_no_chunk("a response's first chunk beyond 64 bits is a bad gateway",
                     "10000000000000003\r\nabc\r\n"),
      early_no_chunk("a response's chunk size that ends in a line feed is a bad gateway",
                     "3\nabc\r\n"),
      early_no_chunk("a response's chunk that ends in a line feed is a bad gateway", "3\r\nabc\n"),
      ours("zeros and a tab before a response's Content-Length are not passed on",
           sends(get())
               .answered(head("Content-Length:\t" + std::string(30, '0') + "3\r\n") + "abc")
               .passes()
               .body("abc")
               .with("Content-Length", "3")
               .open()),
      made_one("a response's equal Content-Lengths are one",
               "Content-Length: 3\r\nContent-Length: 3\r\n"),
      made_one("a response's list of equal Content-Lengths is one", "Content-Length: 3, 3\r\n"),
      ours("chunks go to the client without extensions, leading zeros and white space",
           sends(get())
               .answered(head(kChunked) +
                         "0003 ; a=1\r\nabc\r\nA;b=\"c;d\"\r\n0123456789\r\n00;e\r\n\r\n")
               .passes()
               .body("abc0123456789")
               .open()
               .satisfies([](const Observation& seen) -> std::string {
                 const std::string& raw = seen.responses[0].raw_body;
                 const bool is_plain = raw.find_first_of(";= ") == std::string::npos &&
                                       !raw.starts_with('0') && raw.ends_with("\r\n0\r\n\r\n");
                 return is_plain ? "" : "chunks came as they were sent";
               })),
      must("9110 6.5.1", "Content-Length is no trailer of a response",
           sends(get())
               .answered(head(kChunked) + "3\r\nabc\r\n0\r\nContent-Length: 9\r\n\r\n")
               .broken_off()
               .or_else()
               .passes()
               .satisfies([](const Observation& seen) -> std::string {
                 return seen.responses[0].trailers.empty() ? "" : "it reached the client";
               })),
      must("9112 5.1", "white space behind the name of a response's trailer field is removed",
           sends(get())
               .answered(head(kChunked) + "3\r\nabc\r\n0\r\nX-Sum : 1\r\n\r\n")
               .passes()
               .body("abc")
               .satisfies([](const Observation& seen) -> std::string {
                 const support::Fields& trailers = seen.responses[0].trailers;
                 const support::Fields expected{{"X-Sum", "1"}};
                 return trailers.empty() || trailers == expected ? "" : "the trailers are others";
               })),
      no_trailer("HTTP2-Settings", "AAMAAABk"),
      no_trailer("Proxy-Authenticate", "Basic"),
      no_trailer("Keep-Alive", "timeout=5"),
      no_trailer("Set-Cookie", "a=1"),
      no_trailer("Cache-Control", "no-store"),
      no_trailer("Location", "/b"),
      ours("a field that is no trailer is left out of a response that is good otherwise",
           sends(get())
               .answered(head(kChunked) +
                         "3;a=b\r\nabc\r\n0\r\nX-Sum: 1\r\nContent-Length: 9\r\nHost: b\r\n\r\n")
               .passes()
               .body("abc")
               .open()
               .satisfies([](const Observation& seen) -> std::string {
                 const support::Fields expected{{"X-Sum", "1"}};
                 return seen.responses[0].trailers == expected ? "" : "the trailers are others";
               })),
      ours("a field that Spillway tells clients something by is no trailer of a backend",
           sends(get())
               .answered(head(kChunked) + "3\r\nabc\r\n0\r\nX-Sum: 1\r\nSpillway-Job: cut\r\n\r\n")
               .passes()
               .body("abc")
               .satisfies([](const Observation& seen) -> std::string {
                 const support::Fields expected{{"X-Sum", "1"}};
                 return seen.responses[0].trailers == expected ? "" : "the trailers are others";
               })),
      should(
          "9110 6.2", "a response of a higher minor version is read as HTTP/1.1",
          sends(get()).answered("HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok").passes().open())};
}

}  // namespace spillway::wire
