#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

const std::string kHost = "Host: a.example\r\n\r\n";

// Not of the grammar: 400, and the connection is closed (RFC 9112 section 3 knows one way out,
// which is to read it as one thing only).
Case no_request_line(std::string sentence, const std::string& line) {
  return should("9112 3", std::move(sentence),
                sends(line + "\r\n" + kHost).refused({400, 505}).closed());
}

Case method_passes(std::string sentence, const std::string& method) {
  return ours(
      std::move(sentence),
      sends(method + " /x HTTP/1.1\r\n" + kHost).passes().asked_method_and_target(method + " /x"));
}

// Some backends take it for the method in capitals, whatever the route says of that.
Case small_letters(const std::string& method) {
  return ours("a standard method in small letters is refused: " + method,
              sends(method + " /x HTTP/1.1\r\n" + kHost).refused({400}).untouched().closed());
}

}  // namespace

std::vector<Case> request_line_cases() {
  return {
      must("9110 9.1", "a method is passed on as it is",
           sends("DELETE /x HTTP/1.1\r\n" + kHost).passes().asked_line("DELETE /x HTTP/1.1")),
      small_letters("get"),
      small_letters("Post"),
      small_letters("trace"),
      method_passes("an unknown method in small letters is passed on", "frobnicate"),
      method_passes("an unknown method is passed on", "FROBNICATE"),
      method_passes("a method of WebDAV is passed on", "PROPFIND"),
      method_passes("a method with all the characters of a token is passed on",
                    "M!#$%&'*+-.^_`|~09az"),
      method_passes("a method of 200 letters is passed on", std::string(200, 'M')),
      ours("CONNECT is refused",
           sends("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n")
               .refused({405})
               .untouched()),
      must("9110 9.3.6", "a request behind a refused CONNECT is not sent through a tunnel",
           sends("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n" + smuggled())
               .responses(2)
               .satisfies([](const Observation& seen) -> std::string {
                 if (seen.responses.empty()) return "no response";
                 const int status = seen.responses[0].status();
                 return status >= 400 ? "" : "status " + std::to_string(status);
               })),
      ours("TRACE is refused", sends("TRACE / HTTP/1.1\r\n" + kHost).refused({405}).untouched()),
      ours("CONNECT with a path is refused",
           sends("CONNECT /x HTTP/1.1\r\n" + kHost).refused({400, 405}).untouched()),
      no_request_line("a method with a character that no token has is refused", "G@T / HTTP/1.1"),
      no_request_line("a method in brackets is refused", "(GET) / HTTP/1.1"),
      no_request_line("a method with a colon is refused", "GET: / HTTP/1.1"),
      no_request_line("a request line that begins with a space is refused", " GET / HTTP/1.1"),
      no_request_line("a request line without a target is refused", "GET HTTP/1.1"),
      no_request_line("a request line with an empty target is refused", "GET  HTTP/1.1"),
      no_request_line("a request line of four words is refused", "GET /a b HTTP/1.1"),
      no_request_line("a request line with a version in its target is refused",
                      "GET /a HTTP/1.1 HTTP/1.1"),
      no_request_line("a version in small letters is refused", "GET / http/1.1"),
      no_request_line("a version of another protocol is refused", "GET / HTTQ/1.1"),
      no_request_line("a version with two digits in it is refused", "GET / HTTP/1.10"),
      no_request_line("a version with two digits before the dot is refused", "GET / HTTP/11.1"),
      no_request_line("a version without a dot is refused", "GET / HTTP/11"),
      no_request_line("a version without a minor number is refused", "GET / HTTP/1."),
      no_request_line("a version with a plus is refused", "GET / HTTP/+1.1"),
      no_request_line("a target with a NUL is refused", std::string("GET /\0 HTTP/1.1", 15)),
      no_request_line("a target with a bare CR is refused", "GET /\rx HTTP/1.1"),
      no_request_line("a target with a control character is refused", "GET /\x01 HTTP/1.1"),
      no_request_line("a target with a DEL is refused", "GET /\x7f HTTP/1.1"),
      ours("two spaces behind the method are refused",
           sends("GET  / HTTP/1.1\r\n" + kHost).refused().untouched().closed()),
      ours("two spaces before the version are refused",
           sends("GET /  HTTP/1.1\r\n" + kHost).refused().untouched().closed()),
      ours("a space behind the version is refused",
           sends("GET / HTTP/1.1 \r\n" + kHost).refused().untouched().closed()),
      ours("tabs instead of spaces are refused",
           sends("GET\t/\tHTTP/1.1\r\n" + kHost).refused().untouched().closed()),
      ours("a bare line feed behind the request line is refused",
           sends("GET / HTTP/1.1\n" + kHost).refused().untouched().closed()),
      ours("HTTP/0.9 is refused", sends("GET /\r\n\r\n").refused({400, 505}).untouched().closed()),
      ours("HTTP/0.9 with a version is refused",
           sends("GET / HTTP/0.9\r\n" + kHost).refused({400, 505}).untouched().closed()),
      may("9110 15.6.6", "HTTP/2.0 in a request line gets 505",
          sends("GET / HTTP/2.0\r\n" + kHost).refused({505}).closed()),
      may("9110 15.6.6", "HTTP/3.0 in a request line gets 505",
          sends("GET / HTTP/3.0\r\n" + kHost).refused({505}).closed()),
      should("9110 6.2", "a higher minor version is read as HTTP/1.1",
             sends("GET / HTTP/1.2\r\n" + kHost).passes().asked_line("GET / HTTP/1.1")),
      ours("the preface of HTTP/2 is refused and the connection closed",
           sends("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string("\0\0\0\x04\0\0\0\0\0", 9))
               .refused({400, 405, 505})
               .untouched()
               .closed()),
      ours("a TLS hello is refused and the connection closed",
           sends(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + "abc")
               .refused()
               .untouched()
               .closed()),
      should("9112 2.2", "an empty line before a request is passed over",
             sends("\r\n" + get("/x")).passes().asked_method_and_target("GET /x")),
      should("9112 2.2", "an empty line between two requests is passed over",
             sends(post("abc") + "\r\n" + get("/x"))
                 .statuses({200, 200})
                 .requests(2)
                 .asked_body("abc")),
      ours("a hundred empty lines are no request", sends([] {
                                                     std::string lines;
                                                     for (int n = 0; n < 100; ++n) lines += "\r\n";
                                                     return lines + get("/x");
                                                   }())
                                                       .refused()
                                                       .untouched()
                                                       .closed()),
      must("9112 3", "a request in single bytes is one request",
           Step()
               .byte_by_byte(get("/in-bytes", "X-A: 1\r\n"))
               .passes()
               .asked_method_and_target("GET /in-bytes")
               .asked_with("X-A", "1")
               .open())};
}

}  // namespace spillway::wire
