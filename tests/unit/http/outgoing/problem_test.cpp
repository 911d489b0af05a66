#include "http/outgoing/problem.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "unit/http/requests.hpp"

using namespace spillway;
using namespace spillway::http;

namespace {

std::string response(const Problem& problem) {
  std::array<char, kProblemRoom> block;
  TextWriter out(block);
  const std::optional<std::size_t> content = write_problem(out, problem);
  REQUIRE(content.has_value());
  CHECK(*content == out.size() - (out.text().find("\r\n\r\n") + 4));
  return std::string(out.text());
}

std::string body_of(const std::string& text) { return text.substr(text.find("\r\n\r\n") + 4); }

const Problem kDenial{.status = 503,
                      .reason = Reason::tail_latency,
                      .class_name = "P1",
                      .retry_after = Milliseconds(1200),
                      .request_id = "0123",
                      .detail = "Refused for now."};

}  // namespace

TEST_CASE("a problem response has the given Date") {
  Problem dated = kDenial;
  dated.date = "Sun, 06 Nov 1994 08:49:37 GMT";
  CHECK(response(dated).find("\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n") != std::string::npos);
}

TEST_CASE("a denial says everything that a client needs to come back well") {
  CHECK(response(kDenial) ==
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
        "Content-Length: 173\r\nCache-Control: no-store\r\nRetry-After: 2\r\n"
        "Proxy-Status: spillway; error=destination_unavailable; details=\"TAIL_LATENCY\"\r\n"
        "X-Request-Id: 0123\r\n\r\n"
        "{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503,"
        "\"detail\":\"Refused for now.\",\"reason\":\"TAIL_LATENCY\",\"class\":\"P1\","
        "\"retry_after_ms\":1200,\"request_id\":\"0123\"}\n");
}

TEST_CASE("a denial tells the predicted wait in whole milliseconds and what was waited") {
  Problem problem = kDenial;
  CHECK(response(problem).find("predicted_wait_ms") == std::string::npos);
  CHECK(response(problem).find("Server-Timing") == std::string::npos);
  problem.predicted_wait = std::chrono::microseconds(412'001);
  problem.queue_wait = std::chrono::microseconds(3149);
  const std::string text = response(problem);
  CHECK(text.find("\"retry_after_ms\":1200,\"predicted_wait_ms\":413,") != std::string::npos);
  CHECK(text.find("\r\nServer-Timing: queue;dur=3.1\r\n") != std::string::npos);
}

TEST_CASE("a problem response passes the proxy's own response parser") {
  for (const bool html : {false, true}) {
    Problem problem = kDenial;
    problem.html = html;
    problem.detail = "<b>\"&\\ \x01\xff";
    const std::string text = response(problem);
    ResponseHead head;
    REQUIRE(read_response(text, Verb::get, head) == Error::none);
    CHECK(head.framing.length == body_of(text).size());
    CHECK(head.keep_alive);
  }
}

TEST_CASE("Retry-After is in whole seconds rounded up and never zero") {
  Problem problem = kDenial;
  const std::pair<int, const char*> cases[] = {{1, "1"}, {1000, "1"}, {1001, "2"}, {7499, "8"}};
  for (const auto& [milliseconds, seconds] : cases) {
    problem.retry_after = Milliseconds(milliseconds);
    CHECK(response(problem).find("\r\nRetry-After: " + std::string(seconds) + "\r\n") !=
          std::string::npos);
  }
  problem.retry_after = Milliseconds(0);
  CHECK(response(problem).find("etry") == std::string::npos);
}

TEST_CASE("nothing of a request escapes from where it is shown") {
  Problem problem = kDenial;
  problem.request_id = "a\"b\r\nX: y</script>";
  problem.class_name = "P\\1\n\xc3\xa4\xff";
  const std::string json = response(problem);
  CHECK(json.find("\r\nX: y") == std::string::npos);
  CHECK(json.find("\"class\":\"P\\\\1\\u000a\xc3\xa4\xef\xbf\xbd\"") != std::string::npos);
  CHECK(json.find("\"request_id\":\"a\\\"b\\u000d\\u000aX: y</script>\"") != std::string::npos);
  problem.html = true;
  const std::string html = body_of(response(problem));
  CHECK(html.find("</script>") == std::string::npos);
  CHECK(html.find("a&quot;bX: y&lt;/script&gt;") != std::string::npos);
}

TEST_CASE("a page for people has the reason and when to come back") {
  Problem problem = kDenial;
  problem.html = true;
  const std::string text = response(problem);
  CHECK(text.find("Content-Type: text/html; charset=utf-8\r\n") != std::string::npos);
  CHECK(text.find("<title>503 Service Unavailable</title>") != std::string::npos);
  CHECK(text.find("try again in 2 seconds") != std::string::npos);
  CHECK(text.find("TAIL_LATENCY") != std::string::npos);
}

TEST_CASE("HEAD gets the same head without a body and close is announced") {
  Problem problem = kDenial;
  const std::string whole = response(problem);
  problem.head_only = true;
  CHECK(response(problem) == whole.substr(0, whole.find("\r\n\r\n") + 4));
  problem.close = true;
  CHECK(response(problem).find("\r\nConnection: close\r\n") != std::string::npos);
  problem.pass_lines = "Set-Cookie: pass\r\n";
  CHECK(response(problem).find("\r\nSet-Cookie: pass\r\n") != std::string::npos);
}

TEST_CASE("a proxy error names its standard type and leaves out absent members") {
  const std::string text = response({.status = 405,
                                     .detail = describe(Error::method_refused),
                                     .proxy_error = proxy_status(Error::method_refused)});
  CHECK(text.find("HTTP/1.1 405 Method Not Allowed\r\n") == 0);
  CHECK(text.find("Proxy-Status: spillway; error=http_request_error\r\n") != std::string::npos);
  CHECK(text.find("\r\nAllow: GET") != std::string::npos);
  CHECK(text.find("reason") == std::string::npos);
  CHECK(text.find("request_id") == std::string::npos);
}

TEST_CASE("the longest texts fit the stated room and a small block is reported") {
  const std::string evil(600, '\x01');
  const std::string quotes(600, '"');
  for (const bool html : {false, true}) {
    for (const std::string& text : {evil, quotes}) {
      CHECK(
          response({.class_name = text, .request_id = text, .detail = text, .html = html}).size() <=
          kProblemRoom);
    }
  }
  std::array<char, 300> block;
  TextWriter out(block);
  CHECK_FALSE(write_problem(out, kDenial).has_value());
}

TEST_CASE("every reason and every status in use has its name") {
  for (std::size_t i = 1; i < kReasonCount; ++i) {
    CHECK_FALSE(proxy_error_of(static_cast<Reason>(i)).empty());
  }
  for (const unsigned status : {400, 405, 408, 413, 414, 417, 429, 431, 500, 502, 503, 504, 505}) {
    CAPTURE(status);
    CHECK_FALSE(reason_phrase(status).empty());
  }
  CHECK(reason_phrase(299).empty());
}
