#include "system/wire/http/cases.hpp"
#include "system/wire/proxies.hpp"

namespace spillway::wire {

namespace {

Verdict not_reset(const Observation& seen) { return seen.reset ? "the connection was reset" : ""; }

}  // namespace

std::vector<Case> limit_cases() {
  const std::string large(100'000, 'x');
  const std::string too_large(kBodyLimit + 1, 'x');
  const std::string chunk = "40000\r\n" + std::string(0x40000, 'x') + "\r\n";
  return {
      must("9112 3", "a target that is too long gets 414", sends(get("/" + large)).refused({414})),
      should("9112 3", "a request line of 8000 bytes passes",
             sends(get("/" + std::string(8000 - 14, 'x'))).passes()),
      ours("a request line of more than 8192 bytes gets 414",
           sends(get("/" + std::string(8192, 'x'))).refused({414}).untouched().closed()),
      ours("a target that is too long gets 414 before it has come whole",
           sends("GET /" + large).refused({414}).untouched().closed()),
      must("9110 5.4", "a field that is too long gets a 4xx",
           sends(get("/", "X-A: " + large + "\r\n")).refused({400, 413, 414, 431})),
      ours("a field that is too long gets 431",
           sends(get("/", "X-A: " + large + "\r\n")).refused({431}).untouched().closed()),
      ours("a thousand fields get 431",
           sends(get("/", many_fields(1000))).refused({431}).untouched().closed()),
      ours("a hundred fields pass",
           sends(get("/", many_fields(100))).passes().asked_with("X-99", "1")),
      ours("a head of 60000 bytes passes", sends(get("/", long_fields(60))).passes()),
      may("9110 15.5.14", "a Content-Length beyond the limit gets 413",
          sends(framed("Content-Length: 1048577\r\n", "abc")).refused({413}).untouched()),
      may("9110 15.5.14", "a Content-Length beyond the limit gets 413 before the body is sent",
          sends(framed("Content-Length: 1048577\r\nExpect: 100-continue\r\n", ""))
              .interim({})
              .refused({413})
              .untouched()),
      may("9110 15.5.14", "chunks beyond the limit get 413",
          sends(chunked_post(chunk + chunk + chunk + chunk + chunk + "0\r\n\r\n"))
              .status(413)
              .requests(0)),
      may("9110 15.5.14", "a chunk that alone is beyond the limit gets 413",
          sends(chunked_post("7fffffffffffffff\r\nabc")).refused({413, 400})),
      should("9112 9.6", "a client that goes on sending too large a body is told so",
             sends(post(too_large)).status(413).requests(0).satisfies(not_reset)),
      ours("a body of just the limit passes", sends(post(std::string(kBodyLimit, 'x')))
                                                  .passes()
                                                  .asked_body(std::string(kBodyLimit, 'x')))};
}

}  // namespace spillway::wire
