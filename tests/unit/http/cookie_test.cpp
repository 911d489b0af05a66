#include "http/cookie.hpp"

#include <doctest/doctest.h>

#include <string>

#include "http/head.hpp"

namespace spillway::http {
namespace {

const std::string kName = "__Host-spillway-sale=";

// The head without all cookies of that name.
std::string without(std::string head) {
  for (;;) {
    RequestHead parsed;
    REQUIRE(parse_request(head, parsed) == Error::none);
    const auto cookie = find_cookie(parsed.fields, kName);
    if (!cookie) return head;
    REQUIRE(cookie->part.data() >= head.data());
    head.erase(static_cast<std::size_t>(cookie->part.data() - head.data()), cookie->part.size());
  }
}

std::string head_with(const std::string& lines) { return "GET / HTTP/1.1\r\n" + lines + "\r\n"; }

}  // namespace

TEST_CASE("a cookie is found by the beginning of its pair, wherever it stands") {
  const auto value_in = [](const std::string& lines) {
    const std::string head = head_with(lines);
    RequestHead parsed;
    REQUIRE(parse_request(head, parsed) == Error::none);
    const auto cookie = find_cookie(parsed.fields, kName);
    return cookie ? std::string(cookie->value) : std::string("none");
  };
  CHECK(value_in("") == "none");
  CHECK(value_in("Cookie: " + kName + "x\r\n") == "x");
  CHECK(value_in("Cookie: a=1; " + kName + "x\r\n") == "x");
  CHECK(value_in("Cookie: a=1;" + kName + "x;b=2\r\n") == "x");
  CHECK(value_in("Cookie: a=1;\t" + kName + "x=y \t; b=2\r\n") == "x=y");
  CHECK(value_in("Cookie: a=1\r\nH: h\r\ncookie: " + kName + "x\r\n") == "x");
  CHECK(value_in("Cookie: " + kName + "\r\n") == "");
  CHECK(value_in("Cookie: ;;; ;\r\n") == "none");
  CHECK(value_in("Cookie:\r\n") == "none");
  CHECK(value_in("Cookie: a=" + kName + "x\r\n") == "none");
  CHECK(value_in("Cookie: x" + kName + "x\r\n") == "none");
  CHECK(value_in("Cookie: __host-spillway-sale=x\r\n") == "none");
  CHECK(value_in("X-Cookie: " + kName + "x\r\n") == "none");
}

TEST_CASE("without its part a head reads as if the cookie had not been sent") {
  const std::string host = "Host: h\r\n";
  const auto is = [&](const std::string& cookies, const std::string& left) {
    INFO(cookies);
    CHECK(without(head_with(cookies + host)) == head_with(left + host));
    CHECK(without(head_with(host + cookies)) == head_with(host + left));
  };
  is("Cookie: " + kName + "x\r\n", "");
  is("Cookie: " + kName + "x  \r\n", "");
  is("Cookie: " + kName + "x; b=2\r\n", "Cookie:  b=2\r\n");
  is("Cookie: a=1; " + kName + "x\r\n", "Cookie: a=1\r\n");
  is("Cookie: a=1; " + kName + "x; b=2\r\n", "Cookie: a=1; b=2\r\n");
  is("Cookie: " + kName + "x; " + kName + "y\r\n", "");
  is("Cookie: a=1\r\nCookie: " + kName + "x\r\nCookie: b=2\r\n", "Cookie: a=1\r\nCookie: b=2\r\n");
  is("Cookie: a=1; b=2\r\n", "Cookie: a=1; b=2\r\n");
}

}  // namespace spillway::http
