#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

std::string old(std::string_view lines = {}) {
  return "GET / HTTP/1.0\r\nHost: a.example\r\n" + std::string(lines) + "\r\n";
}

const std::string kChunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=1\r\nde\r\n0\r\n\r\n";

}  // namespace

std::vector<Case> connection_cases() {
  return {
      must("9112 9.3", "HTTP/1.1 keeps the connection", sends(get()).passes().open()),
      must("9112 9.3", "keep-alive in HTTP/1.1 keeps the connection",
           sends(get("/", "Connection: keep-alive\r\n")).passes().open()),
      must("9112 9.6", "close ends the connection behind the response",
           sends(get("/", "Connection: close\r\n")).passes().closed()),
      must("9112 9.6", "close is understood in a list and in any case",
           sends(get("/", "Connection: X-A, CLOSE\r\n")).passes().closed()),
      must("9112 9.6", "close is understood in a second Connection",
           sends(get("/", "Connection: keep-alive\r\nConnection: close\r\n")).passes().closed()),
      should(
          "9112 9.6", "the response says that the connection ends",
          sends(get("/", "Connection: close\r\n")).passes().with("Connection", "close").closed()),
      must("9112 9.6", "a request behind close is not served",
           sends(get("/", "Connection: close\r\n") + smuggled()).passes().closed()),
      must("9112 9.3", "HTTP/1.0 ends the connection", sends(old()).passes().closed()),
      may("9112 9.3", "HTTP/1.0 with keep-alive keeps the connection",
          sends(old("Connection: keep-alive\r\n"))
              .passes()
              .with("Connection", "keep-alive")
              .open()),
      must("9112 9.3", "a request behind one of HTTP/1.0 is not served",
           sends(old() + smuggled()).passes().closed()),
      must("9112 6.1", "HTTP/1.0 gets no chunks",
           sends(old())
               .answered(kChunked)
               .passes()
               .without("Transfer-Encoding")
               .body("abcde")
               .closed()),
      must("9112 6.1", "HTTP/1.0 with keep-alive gets no chunks either",
           sends(old("Connection: keep-alive\r\n"))
               .answered(kChunked)
               .passes()
               .without("Transfer-Encoding")
               .body("abcde")),
      must("9112 9.3.2", "pipelined requests are answered in order",
           sends(get("/1") + get("/2") + get("/3"))
               .answered(ok("one"))
               .answered(ok("two"))
               .answered(ok("three"))
               .statuses({200, 200, 200})
               .bodies({"one", "two", "three"})
               .requests(3)
               .open()),
      must("9112 9.3.2", "pipelined requests with bodies are answered in order",
           sends(post("abc") + chunked_post("3\r\ndef\r\n0\r\n\r\n") + get("/3"))
               .answered(ok("one"))
               .answered(ok("two"))
               .answered(ok("three"))
               .bodies({"one", "two", "three"})
               .requests(3)
               .open()),
      must("9112 9.3.2", "a slow answer is not overtaken",
           sends(get("/1") + get("/2"))
               .answered(raw_pieces({"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsl", "ow"}))
               .answered(ok("fast"))
               .bodies({"slow", "fast"})
               .requests(2)
               .open()),
      must("9112 9.3.2", "forty pipelined requests are answered",
           sends([] {
             std::string all;
             for (int n = 0; n < 40; ++n) all += get("/" + std::to_string(n));
             return all;
           }())
               .responses(40)
               .requests(40)
               .satisfies([](const Observation& seen) -> std::string {
                 return seen.responses.size() == 40 ? "" : "not all are answered";
               })),
      must("9112 9.3.2", "a refused request behind good ones is refused in its turn",
           sends(get("/1") + get("/2", "Transfer-Encoding: cow\r\n") + smuggled())
               .answered(ok("one"))
               .responses(2)
               .status({400, 501})
               .requests(1)
               .closed()),
      must("9112 2.1", "a request and half of the next are one request",
           sends(get("/1"))
               .awaits_response()
               .sends("GET /2 HTTP/1.1\r\nHost: a.exa")
               .half_closes()
               .responses(2)
               .requests(1)
               .satisfies([](const Observation& seen) -> std::string {
                 const bool first = !seen.responses.empty() && seen.responses[0].status() == 200;
                 return first ? "" : "the first was not answered";
               })),
      must("9112 2.1", "half a head is no request",
           sends("GET / HTTP/1.1\r\nHost: a.example\r\n").half_closes().requests(0).untouched()),
      must("9112 2.3", "the backend is spoken HTTP/1.1 to whatever the client speaks",
           sends(old()).passes().asked_line("GET / HTTP/1.1"))};
}

}  // namespace spillway::wire
