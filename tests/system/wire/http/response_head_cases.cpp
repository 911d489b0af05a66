#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

const std::string kLength = "Content-Length: 2\r\n";

// Not of the grammar: a bad gateway. A proxy that asks again, as it may when not a byte has come,
// gets the same each time.
Step unreadable(Answer answer) { return sends(get()).answered(answer.again()).bad_gateway(); }

Step status_line(const std::string& line) {
  return unreadable(raw(line + "\r\n" + kLength + "\r\nok"));
}

Case no_response(std::string sentence, Answer answer) {
  return must("9110 15.6.3", std::move(sentence), unreadable(std::move(answer)));
}

Case no_status_line(std::string sentence, const std::string& line) {
  return must("9110 15.6.3", std::move(sentence), status_line(line));
}

// A field that must not arrive as it is: a bad gateway, or the client gets something sound.
Case no_field(std::string section, std::string sentence, const std::string& line) {
  return must(std::move(section), std::move(sentence),
              sends(get())
                  .answered(ok("ok", line + "\r\n"))
                  .bad_gateway()
                  .or_else()
                  .passes()
                  .body("ok")
                  .open());
}

Case strict(std::string sentence, const std::string& line) {
  return ours(std::move(sentence), sends(get()).answered(ok("ok", line + "\r\n")).bad_gateway());
}

}  // namespace

std::vector<Case> response_head_cases() {
  const std::string nul(1, '\0');
  return {
      no_response("no response at all is a bad gateway", raw("").closing()),
      no_response("a reset instead of a response is a bad gateway", raw("").resetting()),
      no_response("a body without a head is a bad gateway", raw("hello\n").closing()),
      no_response("a page without a head is a bad gateway",
                  raw("<html><body>hello</body></html>\r\n\r\n").closing()),
      no_response("a head that breaks off is a bad gateway",
                  raw("HTTP/1.1 200 OK\r\nContent-Le").closing()),
      no_response("a head that breaks off behind a line is a bad gateway",
                  raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n").closing()),
      no_response("a head that is reset is a bad gateway",
                  raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n").resetting()),
      no_response("a status line that breaks off is a bad gateway", raw("HTTP/1.1 2").closing()),
      no_response("bytes of another protocol are a bad gateway",
                  raw(std::string("\x16\x03\x03\x00\x02\x02\x28", 7)).closing()),
      no_response("a greeting of another protocol is a bad gateway",
                  raw("220 mail.example ESMTP\r\n").closing()),
      must("9110 15.6.3", "an empty line and then a response is a bad gateway or passed over",
           unreadable(raw("\r\n" + ok().pieces[0])).or_else().passes()),
      no_status_line("a status of letters is a bad gateway", "HTTP/1.1 abc OK"),
      no_status_line("a status of two digits is a bad gateway", "HTTP/1.1 20 OK"),
      no_status_line("a status of four digits is a bad gateway", "HTTP/1.1 2000 OK"),
      no_status_line("a negative status is a bad gateway", "HTTP/1.1 -20 OK"),
      no_status_line("a status below 100 is a bad gateway", "HTTP/1.1 099 OK"),
      no_status_line("a status of zeros is a bad gateway", "HTTP/1.1 000 OK"),
      no_status_line("a status line without a status is a bad gateway", "HTTP/1.1"),
      no_status_line("a status line without a version is a bad gateway", "200 OK"),
      no_status_line("a status line of another protocol is a bad gateway", "ICY 200 OK"),
      no_status_line("a status line with a version in small letters is a bad gateway",
                     "http/1.1 200 OK"),
      no_status_line("a status line of HTTP/2.0 is a bad gateway", "HTTP/2.0 200 OK"),
      no_status_line("a status line with an odd version is a bad gateway", "HTTP/1.x 200 OK"),
      no_status_line("a status with a letter behind it is a bad gateway", "HTTP/1.1 200OK"),
      must("9110 15.6.3", "a reason phrase with a NUL is a bad gateway or goes on without",
           status_line("HTTP/1.1 200 O" + nul + "K")
               .or_else()
               .passes()
               .satisfies([nul](const Observation& seen) -> std::string {
                 const std::string& line = seen.responses[0].start_line;
                 return line.find(nul) == std::string::npos ? "" : "the NUL reached the client";
               })),
      must("9110 15.6.3", "a reason phrase with a bare CR is a bad gateway or goes on without",
           status_line("HTTP/1.1 200 O\rK")
               .or_else()
               .passes()
               .satisfies([](const Observation& seen) -> std::string {
                 const std::string& line = seen.responses[0].start_line;
                 return line.find('\r') == std::string::npos ? "" : "the CR reached the client";
               })),
      ours("a status line without the space behind the status is written anew",
           sends(get())
               .answered("HTTP/1.1 200\r\n" + kLength + "\r\nok")
               .passes()
               .body("ok")
               .open()
               .satisfies([](const Observation& seen) -> std::string {
                 const std::string& line = seen.responses[0].start_line;
                 return line.starts_with("HTTP/1.1 200 ") ? "" : "it went on as " + line;
               })),
      ours("a status line with two spaces is a bad gateway",
           sends(get()).answered("HTTP/1.1  200 OK\r\n" + kLength + "\r\nok").bad_gateway()),
      no_field("9112 5.2", "a folded field of a response goes on unfolded or not at all",
               "X-A: 1\r\n 2"),
      no_field("9112 5.1", "a space before a response's colon goes on without or not at all",
               "X-A : 1"),
      no_field("9110 5.5", "a NUL in a response's field does not reach the client",
               "X-A: 1" + nul + "2"),
      no_field("9110 5.5", "a bare CR in a response's field does not reach the client",
               "X-A: 1\r2"),
      no_field("9110 5.5", "a bare line feed in a response's field does not reach the client",
               "X-A: 1\nX-B: 2"),
      no_field("9110 5.1", "a response's field name with a space does not reach the client",
               "X A: 1"),
      no_field("9110 5.1", "a response's field without a name does not reach the client", ": 1"),
      no_field("9110 5.1", "a response's line without a colon does not reach the client",
               "nonsense"),
      no_field("9110 5.1",
               "a response's field name with a control character does not reach the "
               "client",
               "X\x01"
               "A: 1"),
      strict("a folded field of a response is a bad gateway", "X-A: 1\r\n 2"),
      strict("a space before a response's colon is a bad gateway", "X-A : 1"),
      strict("a NUL in a response's field is a bad gateway", "X-A: 1" + nul + "2"),
      strict("a control character in a response's field is a bad gateway", "X-A: 1\x01"),
      strict("a bare line feed in a response's head is a bad gateway", "X-A: 1\nX-B: 2"),
      strict("a line without a colon in a response's head is a bad gateway", "nonsense"),
      no_response("a response's field of 200000 bytes is a bad gateway",
                  ok("ok", "X-A: " + std::string(200'000, 'x') + "\r\n")),
      no_response("a response's head without end is a bad gateway",
                  raw("HTTP/1.1 200 OK\r\n" + many_fields(100'000))),
      ours("a response with 1000 fields is a bad gateway",
           sends(get()).answered(ok("ok", many_fields(1000))).bad_gateway()),
      ours("a response with 100 fields passes",
           sends(get()).answered(ok("ok", many_fields(100))).passes().with("X-99", "1")),
      ours("a response's head of 60000 bytes passes",
           sends(get()).answered(ok("ok", long_fields(60))).passes().body("ok"))};
}

}  // namespace spillway::wire
