#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

const std::string kEnd = "0\r\n\r\n";

// Bytes where there should be a chunk. What follows must not be found by skipping them.
Case no_chunk(std::string sentence, const std::string& bytes) {
  return must("9112 7.1", std::move(sentence),
              sends(chunked_post(bytes + kEnd + smuggled())).refused().closed());
}

Case no_trailer(std::string sentence, const std::string& lines) {
  return must("9110 6.5.1", std::move(sentence),
              sends(chunked_post("3\r\nabc\r\n0\r\n" + lines + "\r\n"))
                  .refused()
                  .or_else()
                  .passes()
                  .asked_body("abc")
                  .satisfies([](const Observation& seen) -> std::string {
                    return seen.requests[0].trailers.empty() ? ""
                                                             : "the trailer reached the backend";
                  }));
}

Case chunks(std::string sentence, const std::string& bytes, const std::string& body) {
  return must("9112 7.1", std::move(sentence),
              sends(chunked_post(bytes)).passes().asked_body(body).open());
}

}  // namespace

std::vector<Case> chunk_cases() {
  const std::string large(100'000, 'x');
  return {
      chunks("chunks are put together in order", "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n", "abcdefg"),
      chunks("a chunk size may have capital digits", "A\r\nabcdefghij\r\n0\r\n\r\n", "abcdefghij"),
      chunks("a chunk size may have small digits", "a\r\nabcdefghij\r\n0\r\n\r\n", "abcdefghij"),
      chunks("a chunk size may have leading zeros", "00003\r\nabc\r\n000\r\n\r\n", "abc"),
      chunks("a chunked body may be empty", kEnd, ""),
      chunks("chunk extensions are passed over", "3;a\r\nabc\r\n0;b=1\r\n\r\n", "abc"),
      chunks("a quoted chunk extension may have a semicolon in it",
             "3;a=\"x;y\"\r\nabc\r\n0\r\n\r\n", "abc"),
      chunks("a chunk may have line ends in it", "5\r\n0\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n"),
      chunks("a chunk may look like a request",
             "3d\r\n" + smuggled() + std::string(0x3d - smuggled().size(), 'x') + "\r\n0\r\n\r\n",
             smuggled() + std::string(0x3d - smuggled().size(), 'x')),
      must("9110 5.6.3", "a chunk extension may have white space around its semicolon",
           sends(chunked_post("3 ; a=1\r\nabc\r\n0\r\n\r\n")).passes().asked_body("abc")),
      must("9112 7.1", "chunks in single bytes are put together",
           Step()
               .byte_by_byte(chunked_post("3\r\nabc\r\n2;x=\"y\"\r\nde\r\n0\r\n\r\n"))
               .passes()
               .asked_body("abcde")),
      ours("chunks go to the backend without extensions, leading zeros and white space",
           sends(chunked_post("0003 ; a=1\r\nabc\r\nA;b=\"c;d\"\r\n0123456789\r\n00;e\r\n\r\n"))
               .passes()
               .asked_body("abc0123456789")
               .satisfies([](const Observation& seen) -> std::string {
                 const std::string anew = "\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n";
                 const bool is_anew = seen.received[0].find(anew) != std::string::npos;
                 return is_anew ? "" : "chunks came as they were sent";
               })),
      no_chunk("a chunk size of letters that are no digits is refused", "xyz\r\n"),
      no_chunk("a chunk size with 0x is refused", "0x3\r\nabc\r\n"),
      no_chunk("a chunk size with a plus is refused", "+3\r\nabc\r\n"),
      no_chunk("a negative chunk size is refused", "-3\r\nabc\r\n"),
      no_chunk("a negative last chunk is refused", "-0\r\n\r\n"),
      no_chunk("a chunk size with a space before it is refused", " 3\r\nabc\r\n"),
      no_chunk("a chunk size with a space in it is refused", "0 3\r\nabc\r\n"),
      no_chunk("a chunk size with an underscore in it is refused", "0_3\r\nabc\r\n"),
      no_chunk("a chunk size with letters behind it is refused", "3g\r\nabc\r\n"),
      no_chunk("an empty chunk size is refused", "\r\nabc\r\n"),
      no_chunk("a chunk extension without a size is refused", ";a=1\r\nabc\r\n"),
      no_chunk("a chunk size of 2^64 and 3 is not taken for 3", "10000000000000003\r\nabc\r\n"),
      no_chunk("a chunk size of 2^64 is not taken for the last chunk", "10000000000000000\r\n\r\n"),
      must("9112 7.1", "a chunk size is not cut to 32 bits",
           sends(chunked_post("ffffffff00000003\r\nabc\r\n" + kEnd + smuggled()))
               .refused({400, 413})
               .closed()),
      no_chunk("a chunk that is longer than it says is refused", "3\r\nabcd\r\n"),
      no_chunk("a chunk that is shorter than it says is refused", "4\r\nab\r\n"),
      no_chunk("a chunk without a line end is refused", "3\r\nabc"),
      no_chunk("a chunk size that ends in a bare CR is refused", "3\rabc\r\n"),
      ours("a chunk size that ends in a bare line feed is refused",
           sends(chunked_post("3\nabc\r\n" + kEnd)).refused().untouched().closed()),
      ours("a chunk that ends in a bare line feed is refused",
           sends(chunked_post("3\r\nabc\n" + kEnd)).refused().untouched().closed()),
      ours("a chunk size with a space behind it is refused",
           sends(chunked_post("3 \r\nabc\r\n" + kEnd)).refused().untouched().closed()),
      must("9112 7.1.1", "a line feed in a chunk extension is refused or kept from the backend",
           sends(chunked_post("3;a=\n1\r\nabc\r\n" + kEnd)).refused().or_else().passes()),
      must("9112 7.1.1",
           "a line feed in a quoted chunk extension is refused or kept from the backend",
           sends(chunked_post("3;a=\"\n1\"\r\nabc\r\n" + kEnd)).refused().or_else().passes()),
      must("9112 7.1.1", "a bare CR in a chunk extension is refused or kept from the backend",
           sends(chunked_post("3;a=\r1\r\nabc\r\n" + kEnd)).refused().or_else().passes()),
      must("9112 7.1.1", "a NUL in a chunk extension is refused or kept from the backend",
           sends(chunked_post(std::string("3;a=\0\r\nabc\r\n", 12) + kEnd))
               .refused()
               .or_else()
               .passes()),
      should("9112 7.1.1", "chunk extensions without end are refused",
             sends(chunked_post("3;a=" + std::string(100'000, 'x') + "\r\nabc\r\n" + kEnd))
                 .refused({400, 413, 431})),
      ours("a chunk extension of 1000 bytes is refused",
           sends(chunked_post("3;a=" + std::string(1000, 'x') + "\r\nabc\r\n" + kEnd))
               .refused()
               .untouched()
               .closed()),
      must("9112 8", "chunks without the last one are no whole request",
           sends(chunked_post("3\r\nabc\r\n")).half_closes().requests(0)),
      must("9112 8", "a last chunk without the line behind it is no whole request",
           sends(chunked_post("3\r\nabc\r\n0\r\n")).half_closes().requests(0)),
      must("9112 8", "chunks of a large body without the last one are no whole request",
           sends(chunked_post("186a0\r\n" + large + "\r\n")).awaits_origin().leaves().requests(0)),
      must("9112 7.1", "a broken chunk behind a large one makes no whole request",
           sends(chunked_post("186a0\r\n" + large + "\r\nxyz\r\n" + kEnd + smuggled()))
               .requests(0)
               .closed()),
      must("9112 7.1.2", "a trailer does not disturb the body",
           sends(chunked_post("3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n"))
               .passes()
               .asked_body("abc")
               .open()),
      ours(
          "a trailer reaches the backend",
          sends(chunked_post("3\r\nabc\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n", "Trailer: X-Sum\r\n"))
              .passes()
              .asked_with("Trailer", "X-Sum")
              .satisfies([](const Observation& seen) -> std::string {
                const support::Fields expected{{"X-Sum", "1"}, {"X-Sum", "2"}};
                return seen.requests[0].trailers == expected ? "" : "the trailers are missing";
              })),
      no_trailer("Content-Length is no trailer", "Content-Length: 5\r\n"),
      no_trailer("Transfer-Encoding is no trailer", "Transfer-Encoding: chunked\r\n"),
      no_trailer("Host is no trailer", "Host: b.example\r\n"),
      no_trailer("Authorization is no trailer", "Authorization: Basic eA==\r\n"),
      no_trailer("Cookie is no trailer", "Cookie: a=1\r\n"),
      no_trailer("X-Forwarded-For is no trailer", "X-Forwarded-For: 1.2.3.4\r\n"),
      no_trailer("Connection is no trailer", "Connection: close\r\n"),
      no_trailer("Expect is no trailer", "Expect: 100-continue\r\n"),
      no_trailer("Content-Encoding is no trailer", "Content-Encoding: gzip\r\n"),
      no_trailer("Accept-Language is no trailer", "Accept-Language: de\r\n"),
      no_trailer("Accept-Datetime is no trailer", "Accept-Datetime: now\r\n"),
      no_trailer("User-Agent is no trailer", "User-Agent: bot\r\n"),
      no_trailer("Referer is no trailer", "Referer: http://b.example/\r\n"),
      no_trailer("Keep-Alive is no trailer", "Keep-Alive: timeout=5\r\n"),
      no_trailer("HTTP2-Settings is no trailer", "HTTP2-Settings: AAMAAABk\r\n"),
      no_trailer("X-Real-IP is no trailer", "X-Real-IP: 1.2.3.4\r\n"),
      no_trailer("Client-Cert is no trailer", "Client-Cert: :MIIB:\r\n"),
      no_trailer("CDN-Loop is no trailer", "CDN-Loop: a.example\r\n"),
      no_trailer("Forwarded is no trailer", "Forwarded: for=1.2.3.4\r\n"),
      no_trailer("a field of trusted_headers is no trailer", "X-Wire-Tenant: 7\r\n"),
      no_trailer("a field of cache.personal is no trailer", "X-Wire-Person: 7\r\n"),
      no_trailer("a field of cache.vary is no trailer", "X-Wire-Variant: 7\r\n"),
      no_trailer("X.Forwarded.For is no trailer", "X.Forwarded.For: 1.2.3.4\r\n"),
      no_trailer("X_Wire_Tenant is no trailer", "X_Wire_Tenant: 7\r\n"),
      no_trailer("a line without a colon is no trailer", "nonsense\r\n"),
      no_trailer("a line with a space before its colon is no trailer", "X-Sum : 1\r\n"),
      no_trailer("a folded line is no trailer", "X-Sum: 1\r\n 2\r\n"),
      no_trailer("a line with a NUL is no trailer", std::string("X-Sum: 1\0\r\n", 11)),
      no_trailer("a line with a bare line feed is no trailer", "X-Sum: 1\nX-B: 2\r\n"),
      ours("trailers of more than 8 KiB are refused",
           sends(chunked_post("0\r\nX-Sum: " + std::string(9000, 'x') + "\r\n\r\n"))
               .refused()
               .untouched()
               .closed())};
}

}  // namespace spillway::wire
