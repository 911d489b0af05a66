#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

Case response_stays(std::string sentence, const std::string& name, const std::string& value) {
  return must(
      "9110 5.1", std::move(sentence),
      sends(get()).answered(ok("ok", name + ": " + value + "\r\n")).passes().with(name, value));
}

Case status_line(std::string sentence, const std::string& line, int status) {
  return must("9110 15", std::move(sentence),
              sends(get())
                  .answered(line + "\r\nContent-Length: 2\r\n\r\nok")
                  .status({status})
                  .body("ok")
                  .open());
}

}  // namespace

std::vector<Case> forwarding_cases() {
  return {
      must("9110 5.1", "an unknown field is passed on",
           sends(get("/", "X-Frobnicate: yes\r\n")).passes().asked_with("X-Frobnicate", "yes")),
      must("9110 5.3", "lines of the same field keep their order",
           sends(get("/", "X-A: 2\r\nX-B: x\r\nX-A: 1\r\nx-a: 3\r\n"))
               .passes()
               .asked_list("X-A", "2, 1, 3")),
      ours("lines of the same field stay lines of their own",
           sends(get("/", "X-A: 2\r\nX-B: x\r\nX-A: 1\r\nx-a: 3\r\n"))
               .passes()
               .asked_lines("X-A", {"2", "1", "3"})),
      ours("lines go on byte for byte",
           sends(get("/", "x-CaSe:   a  b \t\r\n")).passes().asked_raw("x-CaSe:   a  b \t\r\n")),
      ours("lines of different fields keep their order",
           sends(get("/", "X-B: 1\r\nX-A: 2\r\nAccept: 3\r\nX-C: 4\r\n"))
               .passes()
               .asked_raw("X-B: 1\r\nX-A: 2\r\nAccept: 3\r\nX-C: 4\r\n")),
      must("9110 5.3", "several Cookie lines arrive",
           sends(get("/", "Cookie: a=1\r\nCookie: b=2\r\n"))
               .passes()
               .asked_part("Cookie", "a=1")
               .asked_part("Cookie", "b=2")),
      must("9110 5.1", "Authorization is passed on",
           sends(get("/", "Authorization: Basic eA==\r\n"))
               .passes()
               .asked_with("Authorization", "Basic eA==")),
      must("9110 5.1", "conditions are passed on",
           sends(get("/", "If-None-Match: W/\"a\", \"b\"\r\nIf-Match: *\r\n"))
               .passes()
               .asked_with("If-None-Match", "W/\"a\", \"b\"")
               .asked_with("If-Match", "*")),
      must("9110 5.1", "Range is passed on",
           sends(get("/", "Range: bytes=0-1\r\n")).passes().asked_with("Range", "bytes=0-1")),
      must("9110 5.1", "Accept-Encoding is passed on as it is",
           sends(get("/", "Accept-Encoding: gzip;q=0.5, br\r\n"))
               .passes()
               .asked_with("Accept-Encoding", "gzip;q=0.5, br")),
      must("9110 7.7", "the coding of a body stays as it is",
           sends(post("\x1f\x8b not really", "Content-Encoding: gzip\r\nContent-Type: a/b\r\n"))
               .passes()
               .asked_with("Content-Encoding", "gzip")
               .asked_with("Content-Type", "a/b")
               .asked_body("\x1f\x8b not really")),
      must("9110 7.6.3", "Via says that the request came through here",
           sends(get()).passes().asked_part("Via", "1.1 ")),
      must("9110 7.6.3", "Via says that an HTTP/1.0 request was one",
           sends("GET / HTTP/1.0\r\nHost: a.example\r\n\r\n").passes().asked_part("Via", "1.0 ")),
      must("9110 7.6.3", "Via of those before stays before ours",
           sends(get("/", "Via: 1.0 first, 1.1 second\r\n"))
               .passes()
               .asked_list_begins("Via", "1.0 first, 1.1 second, ")),
      may("9110 7.6.3", "Via says that the response came through here",
          sends(get()).passes().with_part("Via", "1.1 ")),
      must("9110 7.6.2", "OPTIONS with Max-Forwards goes on with one less",
           sends("OPTIONS / HTTP/1.1\r\nHost: a.example\r\nMax-Forwards: 10\r\n\r\n")
               .passes()
               .asked_with("Max-Forwards", "9")),
      must("9110 7.6.2", "OPTIONS with Max-Forwards 0 is answered here",
           sends("OPTIONS / HTTP/1.1\r\nHost: a.example\r\nMax-Forwards: 0\r\n\r\n")
               .status({200, 204})
               .requests(0)),
      may("9110 7.6.2", "Max-Forwards of other methods is passed on as it is",
          sends(get("/", "Max-Forwards: 10\r\n")).passes().asked_with("Max-Forwards", "10")),
      must("9110 5.3", "Set-Cookie lines stay lines of their own and in order",
           sends(get())
               .answered(ok("ok", "Set-Cookie: b=1\r\nX-A: 1\r\nSet-Cookie: a=2\r\n"))
               .passes()
               .with_lines("Set-Cookie", {"b=1", "a=2"})),
      ours("lines of a response stay lines of their own and in order",
           sends(get())
               .answered(ok("ok", "X-A: 2\r\nX-B: x\r\nx-a: 1\r\n"))
               .passes()
               .with_lines("X-A", {"2", "1"})),
      response_stays("an unknown field of a response is passed on", "X-Frobnicate", "1, 2"),
      response_stays("an entity tag is passed on", "ETag", "W/\"a\""),
      response_stays("Server is passed on", "Server", "backend/1.0"),
      response_stays("bytes beyond ASCII of a response are passed on", "X-A", "\xc3\xa4\xff"),
      response_stays("an empty field of a response is passed on", "X-A", ""),
      response_stays("Location is passed on as it is", "Location", "http://b.example/a/../b"),
      response_stays("WWW-Authenticate is passed on", "WWW-Authenticate", "Basic realm=\"a, b\""),
      must("9110 6.6.1", "a response's Date stays",
           sends(get())
               .answered(ok("ok", "Date: Tue, 15 Nov 1994 08:12:31 GMT\r\n"))
               .passes()
               .with("Date", "Tue, 15 Nov 1994 08:12:31 GMT")),
      must("9110 6.6.1", "a response without Date gets one",
           sends(get()).answered(ok()).passes().with_part("Date", " GMT")),
      status_line("an unknown status is passed on", "HTTP/1.1 299 Odd", 299),
      status_line("a status of an unknown refusal is passed on", "HTTP/1.1 499 Odd", 499),
      status_line("a status without a reason phrase is passed on", "HTTP/1.1 200 ", 200),
      status_line("a reason phrase of odd bytes is passed on", "HTTP/1.1 200 \xc3\xa4 (\"x\"): \t!",
                  200),
      status_line("an error of the backend is passed on", "HTTP/1.1 500 Broken", 500),
      must("9110 15", "a refusal of the backend is passed on with its body",
           sends(get())
               .answered("HTTP/1.1 404 Nowhere\r\nContent-Length: 4\r\nX-A: 1\r\n\r\nnone")
               .status(404)
               .with("X-A", "1")
               .body("none")
               .open())};
}

}  // namespace spillway::wire
