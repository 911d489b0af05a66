#include "http/message/scan.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace spillway::http;
using namespace std::literals;

namespace {

using Kind = HeadScanner::Kind;
using State = Scan::State;

constexpr std::string_view kHead =
    "GET /a?b=c HTTP/1.1\r\nHost: example.com\r\nX-Tab: a\tb\r\nX-Utf8: \xc3\xa4\r\n\r\n";

// Feeds the bytes one by one: what a scanner says when the last needed one has come.
Scan scan_bytewise(HeadScanner& scanner, std::string_view text) {
  Scan scan;
  for (std::size_t n = 1; n <= text.size() && scan.state == State::need_more; ++n) {
    scan = scanner.scan(text.substr(0, n));
  }
  return scan;
}

struct Case {
  std::string_view section;
  std::string_view text;
  Error error;
};

}  // namespace

TEST_CASE("a head is found whole at every split") {
  for (std::size_t split = 0; split <= kHead.size(); ++split) {
    CAPTURE(split);
    HeadScanner scanner(Kind::request);
    const Scan first = scanner.scan(kHead.substr(0, split));
    CHECK(first.state == (split == kHead.size() ? State::complete : State::need_more));
    CHECK(scanner.started() == (split > 0));
    if (first.state == State::complete) break;
    const Scan second = scanner.scan(kHead);
    CHECK(second.state == State::complete);
    CHECK(second.begin == 0);
    CHECK(second.end == kHead.size());
  }
}

TEST_CASE("what follows a head is not part of it") {
  const std::string two = std::string(kHead) + std::string(kHead) + "\x01rest";
  HeadScanner scanner(Kind::request);
  CHECK(scanner.scan(two).end == kHead.size());
  scanner.reset();
  CHECK(scanner.scan(std::string_view(two).substr(kHead.size())).end == kHead.size());
}

TEST_CASE("up to four empty lines before a request line are skipped") {
  // RFC 9112 section 2.2
  const std::string text = "\r\n\r\n\r\n\r\n" + std::string(kHead);
  HeadScanner whole(Kind::request);
  HeadScanner bytewise(Kind::request);
  CHECK_FALSE(whole.started());
  for (const Scan& scan : {whole.scan(text), scan_bytewise(bytewise, text)}) {
    CHECK(scan.state == State::complete);
    CHECK(scan.begin == 8);
    CHECK(scan.end == text.size());
  }
  HeadScanner idle(Kind::request);
  idle.scan("\r\n\r\n");
  CHECK_FALSE(idle.started());
  HeadScanner five(Kind::request);
  CHECK(five.scan("\r\n" + text).error == Error::bad_request_line);
}

TEST_CASE("a head that can never become valid is refused at once") {
  const Case cases[] = {
      {"9112 2.2 bare CR", "GET / HTTP/1.1\r\nA: b\rc", Error::bad_character},
      {"9112 2.2 bare CR at the start", "\rGET", Error::bad_character},
      {"9112 2.2 bare LF in the request line", "GET / HTTP/1.1\n", Error::bad_character},
      {"9112 2.2 bare LF in a field", "GET / HTTP/1.1\r\nHost: a\n", Error::bad_character},
      {"9112 2.2 bare LF as the empty line", "\n", Error::bad_character},
      {"9110 5.5 NUL", "GET / HTTP/1.1\r\nA: \0"sv, Error::bad_character},
      {"9110 5.5 NUL in the method", "G\0"sv, Error::bad_character},
      {"9110 5.5 control", "GET / HTTP/1.1\r\nA: \x01", Error::bad_character},
      {"9110 5.5 DEL", "GET / HTTP/1.1\r\nA: b\x7f", Error::bad_character},
      {"9112 3 tab in the request line", "GET /\t", Error::bad_character},
      {"9112 5.2 folding with a space", "GET / HTTP/1.1\r\nA: b\r\n c", Error::obs_fold},
      {"9112 5.2 folding with a tab", "GET / HTTP/1.1\r\nA: b\r\n\t", Error::obs_fold},
      {"9112 2.2 space before the first field", "GET / HTTP/1.1\r\n Host", Error::obs_fold},
      {"9112 3.1 method is no token", "GE(T / HTTP/1.1", Error::bad_request_line},
      {"9112 3.1 TLS hello", "\x16\x03\x01", Error::bad_character},
      {"9112 3 space first", " GET", Error::bad_request_line},
      {"9112 3 no space", "GET\r\n", Error::bad_request_line},
      {"9112 3 UTF-8 method", "\xc3\xa4", Error::bad_request_line},
  };
  for (const Case& one : cases) {
    CAPTURE(one.section);
    HeadScanner whole(Kind::request);
    CHECK(whole.scan(one.text).error == one.error);
    CHECK(whole.scan(one.text).error == one.error);
    HeadScanner bytewise(Kind::request);
    const Scan scan = scan_bytewise(bytewise, one.text);
    CHECK(scan.state == State::invalid);
    CHECK(scan.error == one.error);
  }
}

TEST_CASE("the limit that is met first counts at every split") {
  const std::string method(40, 'A');
  const std::string path = "GET /" + std::string(100, 'a');
  const HeadLimits line_first{.head_bytes = 64, .line_bytes = 32};
  const HeadLimits head_first{.head_bytes = 32, .line_bytes = 64};
  const struct {
    std::string text;
    HeadLimits limits;
    Error error;
  } cases[] = {
      {method + "\x01", line_first, Error::uri_too_long},
      {method + "(", head_first, Error::head_too_large},
      {path + " HTTP/1.1\r\n", line_first, Error::uri_too_long},
      {path + " HTTP/1.1\r\n", head_first, Error::head_too_large},
      {"GET / HTTP/1.1\r\n" + std::string(15, 'a') + ":\r\n b", head_first, Error::head_too_large},
  };
  for (const auto& one : cases) {
    CAPTURE(one.text);
    HeadScanner whole(Kind::request, one.limits);
    CHECK(whole.scan(one.text).error == one.error);
    HeadScanner bytewise(Kind::request, one.limits);
    CHECK(scan_bytewise(bytewise, one.text).error == one.error);
  }
}

TEST_CASE("limits hold exactly and before the head is complete") {
  const std::string head(kHead);
  HeadScanner exact(Kind::request, {.head_bytes = head.size()});
  CHECK(exact.scan(head).state == State::complete);
  HeadScanner less(Kind::request, {.head_bytes = head.size() - 1});
  CHECK(less.scan(head).error == Error::head_too_large);
  HeadScanner partial(Kind::request, {.head_bytes = 100});
  CHECK(partial.scan("GET / HTTP/1.1\r\nA: " + std::string(90, 'a')).error ==
        Error::head_too_large);

  const std::string line = "GET /" + std::string(50, 'a') + " HTTP/1.1";
  HeadScanner fits(Kind::request, {.line_bytes = line.size()});
  CHECK(fits.scan(line + "\r\nHost: a\r\n\r\n").state == State::complete);
  HeadScanner long_line(Kind::request, {.line_bytes = line.size() - 1});
  CHECK(long_line.scan(line + "\r\nHost: a\r\n\r\n").error == Error::uri_too_long);
  HeadScanner endless(Kind::request, {.line_bytes = 1 << 20});
  CHECK(endless.scan("GET /" + std::string(kMaxRequestLine, 'a')).error == Error::uri_too_long);
  HeadScanner endless_method(Kind::request);
  CHECK(endless_method.scan(std::string(kMaxRequestLine + 1, 'a')).error == Error::uri_too_long);
}

TEST_CASE("a response head has a status line first and no long line of its own") {
  HeadScanner scanner(Kind::response);
  const std::string head = "HTTP/1.1 200 " + std::string(9000, 'x') + "\tOK\r\nA: b\r\n\r\n";
  CHECK(scanner.scan(head + "body").end == head.size());
  HeadScanner empty(Kind::response);
  CHECK(empty.scan("\r\nHTTP/1.1 200 OK\r\n\r\n").error == Error::bad_status_line);
  HeadScanner folded(Kind::response);
  CHECK(folded.scan("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n").error == Error::obs_fold);
}
