#include "http/cookie.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "http/head.hpp"

namespace spillway::http {
namespace {

const std::string kName = "__Host-spillway-sale";
const std::string kPair = kName + "=x";

std::string head_with(const std::string& lines) { return "GET / HTTP/1.1\r\n" + lines + "\r\n"; }

// The head without the cookies of that name; `values`: theirs.
std::string without(std::string head, std::vector<std::string>* values = nullptr) {
  RequestHead parsed;
  REQUIRE(parse_request(head, parsed) == Error::none);
  const auto is_taken = [&](std::string_view name, std::string_view value) {
    if (name != kName) return false;
    if (values != nullptr) values->emplace_back(value);
    return true;
  };
  return head.substr(extract_cookies(head, parsed.fields, is_taken));
}

std::vector<std::string> values_in(const std::string& lines) {
  std::vector<std::string> values;
  without(head_with(lines), &values);
  return values;
}

}  // namespace

TEST_CASE("a cookie is known by its name, wherever it stands") {
  using Values = std::vector<std::string>;
  CHECK(values_in("") == Values{});
  CHECK(values_in("Cookie: " + kPair + "\r\n") == Values{"x"});
  CHECK(values_in("Cookie: a=1; " + kPair + "\r\n") == Values{"x"});
  CHECK(values_in("Cookie: a=1;" + kPair + ";b=2\r\n") == Values{"x"});
  CHECK(values_in("Cookie: a=1;\t" + kPair + "=y \t; b=2\r\n") == Values{"x=y"});
  CHECK(values_in("Cookie: a=1\r\nH: h\r\ncookie: " + kPair + "\r\n") == Values{"x"});
  CHECK(values_in("Cookie: " + kName + "=\r\n") == Values{""});
  CHECK(values_in("Cookie: " + kName + "=1; " + kName + "=2\r\nCookie: " + kName + "=3\r\n") ==
        Values{"3", "2", "1"});
  for (const std::string& none :
       {"Cookie: ;;; ;", "Cookie:", "Cookie: a=__Host-spillway-sale=x",
        "Cookie: __Host-spillway-sale", "Cookie: x__Host-spillway-sale=x",
        "Cookie: __host-spillway-sale=x", "X-Cookie: __Host-spillway-sale=x"}) {
    CHECK(values_in(none + "\r\n") == Values{});
  }
}

TEST_CASE("a head reads as if the cookies that were taken had not been sent") {
  const std::string host = "Host: h\r\n";
  const auto is = [&](const std::string& cookies, const std::string& left) {
    INFO(cookies);
    CHECK(without(head_with(cookies + host)) == head_with(left + host));
    CHECK(without(head_with(host + cookies)) == head_with(host + left));
  };
  is("Cookie: " + kPair + "\r\n", "");
  is("Cookie: " + kPair + "  \r\n", "");
  is("Cookie: " + kPair + "; b=2\r\n", "Cookie:  b=2\r\n");
  is("Cookie: a=1; " + kPair + "\r\n", "Cookie: a=1\r\n");
  is("Cookie: a=1; " + kPair + "; b=2\r\n", "Cookie: a=1; b=2\r\n");
  is("Cookie: " + kPair + "; " + kPair + "\r\n", "");
  is("Cookie: " + kPair + "; " + kPair + "; b=2\r\n", "Cookie:  b=2\r\n");
  is("Cookie: " + kPair + "; b=2; " + kPair + "; c=3\r\n", "Cookie:  b=2; c=3\r\n");
  is("Cookie: a=1\r\nCookie: " + kPair + "\r\nCookie: b=2\r\n", "Cookie: a=1\r\nCookie: b=2\r\n");
  is("Cookie: " + kPair + "\r\nA: 1\r\nCookie: " + kPair + ";\r\n", "A: 1\r\nCookie: \r\n");
  is("Cookie: a=1; b=2\r\n", "Cookie: a=1; b=2\r\n");
  is("Cookie: ;;\r\n", "Cookie: ;;\r\n");
}

// Each cookie was once looked for from the beginning of the head, and moved all before it.
TEST_CASE("a head made of cookies is read once") {
  std::string cookies = "Cookie: a=1";
  for (int n = 0; n < 1300; ++n) cookies += ";" + kName + "=";
  const std::string head = head_with(cookies + "\r\n");
  std::size_t asked = 0;
  std::string text = head;
  RequestHead parsed;
  REQUIRE(parse_request(text, parsed) == Error::none);
  const std::size_t taken =
      extract_cookies(text, parsed.fields, [&](std::string_view name, std::string_view) {
        ++asked;
        return name == kName;
      });
  CHECK(asked == 1301);
  CHECK(text.substr(taken) == head_with("Cookie: a=1\r\n"));
}

TEST_CASE("a cookie is there if its whole pair is") {
  const auto has = [](const std::string& line) {
    const std::string head = head_with(line + "\r\n");
    RequestHead parsed;
    REQUIRE(parse_request(head, parsed) == Error::none);
    return has_cookie(parsed.fields, "still=1");
  };
  CHECK(has("Cookie: still=1"));
  CHECK(has("Cookie: a=1; still=1 "));
  CHECK(has("Cookie: a=1\r\nCookie: still=1; b=2"));
  CHECK_FALSE(has("Cookie: still=12"));
  CHECK_FALSE(has("Cookie: a=still=1"));
  CHECK_FALSE(has("X: still=1"));
}

}  // namespace spillway::http
