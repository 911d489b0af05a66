#include "http/field/cookie.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "http/message/head.hpp"

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
  is("Cookie: " + kPair + "\r\nA: 1\r\nCookie: " + kPair + ";\r\n", "A: 1\r\n");
  is("Cookie: a=1; b=2\r\n", "Cookie: a=1; b=2\r\n");
  is("Cookie: ;;\r\n", "Cookie: ;;\r\n");
}

namespace {

// The same by taking texts apart and putting them together.
std::string model(const std::string& lines) {
  std::string left;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t next = lines.find("\r\n", at) + 2;
    const std::string line = lines.substr(at, next - at);
    at = next;
    const std::size_t begin =
        std::min(line.find_first_not_of(" \t", line.find(':') + 1), line.size() - 2);
    const std::size_t end = std::max(line.find_last_not_of(" \t\r\n") + 1, begin);
    std::string kept;
    bool takes = false;
    bool keeps = false;
    const std::string pairs = line.substr(begin, end - begin) + ";";
    for (std::size_t pair = 0, size = 0; pair < pairs.size(); pair += size + 1) {
      size = pairs.find(';', pair) - pair;
      const std::string text = pairs.substr(pair, size);
      const std::size_t name = text.find_first_not_of(" \t");
      if (name != std::string::npos && text.compare(name, kName.size() + 1, kName + "=") == 0) {
        takes = true;
        continue;
      }
      keeps = keeps || name != std::string::npos;
      kept += text + ";";
    }
    if (!line.starts_with("Cookie") || !takes) {
      left += line;
    } else if (keeps) {
      kept.pop_back();
      left += line.substr(0, begin) + kept + line.substr(end);
    }
  }
  return left;
}

}  // namespace

TEST_CASE("what is left of any cookies is as by the model, and nothing else is touched") {
  Random random(7);
  const auto any = [&](std::size_t below) { return random.next() % below; };
  const std::vector<std::string> pieces{
      kPair, kName + "=", kName + "=" + std::string(90, 'y'), "a=1", "b", "", " ", "\t"};
  std::size_t changed = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string lines;
    for (std::size_t line = any(4) + 1; line > 0; --line) {
      lines += any(4) == 0 ? "Other: " : "Cookie:" + std::string(any(3), ' ');
      for (std::size_t n = any(5); n > 0; --n) {
        lines += (any(2) == 0 ? " " : "") + pieces[any(pieces.size())];
        if (n > 1) lines += ";";
      }
      lines += std::string(any(3) == 0 ? any(120) : 0, ' ') + "\r\n";
    }
    const std::string text = head_with(lines);
    std::string block = std::string(64, '<') + text + std::string(512, '>');
    RequestHead parsed;
    REQUIRE(parse_request(std::string_view(block).substr(64, text.size()), parsed) == Error::none);
    const std::size_t taken =
        extract_cookies(std::span(block).subspan(64, text.size()), parsed.fields,
                        [](std::string_view name, std::string_view) { return name == kName; });
    CAPTURE(text);
    REQUIRE(taken <= text.size());
    REQUIRE(block.substr(64 + taken, text.size() - taken) == head_with(model(lines)));
    REQUIRE(block.starts_with(std::string(64, '<')));
    REQUIRE(block.substr(64 + text.size()) == std::string(512, '>'));
    changed += taken > 0 ? 1 : 0;
  }
  CHECK(changed > 10'000);
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
