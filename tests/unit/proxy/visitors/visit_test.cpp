// Requests of a route with a waiting room, as browsers, scripts and programs send them.
#include "proxy/visitors/visit.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "http/message/framing.hpp"

namespace spillway::proxy {
namespace {

// `fields` stand behind "Host: shop.example".
struct Sent {
  explicit Sent(std::string_view fields, std::string_view line = "GET /sale HTTP/1.1")
      : text(std::string(line) + "\r\nHost: shop.example\r\n" + std::string(fields) + "\r\n") {
    REQUIRE(http::parse_request(text, head) == http::Error::none);
    REQUIRE(http::request_framing(head) == http::Error::none);
  }
  Sent(const Sent&) = delete;

  const std::string text;
  http::RequestHead head;
};

constexpr std::string_view kNavigates =
    "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";

}  // namespace

TEST_CASE("a visit is a request of one who wants to see the page, and nothing else is") {
  struct Case {
    std::string_view what, line, fields;
    bool is_visit;
  };
  const std::string_view get = "GET /sale HTTP/1.1";
  const std::vector<Case> cases{
      {"a browser's address bar", get, kNavigates, true},
      {"a program", get, "", true},
      {"a program that takes anything", get, "Accept: */*\r\n", true},
      {"a browser without Fetch Metadata", get, "Accept: text/html,image/avif\r\n", true},
      {"a script that shows it", get, "Sec-Fetch-Mode: cors\r\nSpillway-Enter: 1\r\n", true},
      {"a form", "POST /sale HTTP/1.1", kNavigates, false},
      {"another method", "OPTIONS /sale HTTP/1.1", "", false},
      {"a look at the head", "HEAD /sale HTTP/1.1", "", false},
      {"a robot's first question", "GET /robots.txt HTTP/1.1", "", false},
      {"a script", get, "Sec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n", false},
      {"a frame", get, "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n", false},
      {"a picture", get, "Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n", false},
      {"a picture by Accept", get, "Accept: image/avif,*/*;q=0.8\r\n", false},
      {"a style sheet by Accept", get, "Accept: Text/CSS,*/*;q=0.1\r\n", false},
      {"a prefetch", get, "Sec-Purpose: prefetch;prerender\r\n", false},
      {"an older prefetch", get, "Purpose: prefetch\r\n", false},
      {"a prefetch that says it enters", get, "Sec-Purpose: prefetch\r\nSpillway-Enter: 1\r\n",
       false},
      {"a form that says it enters", "POST /sale HTTP/1.1", "Spillway-Enter: 1\r\n", false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CHECK(is_visit(Sent(c.fields, c.line).head) == c.is_visit);
  }
}

TEST_CASE("a HEAD and a prefetch only look") {
  CHECK(only_looks(Sent("", "HEAD /sale HTTP/1.1").head));
  CHECK(only_looks(Sent("Sec-Purpose: prefetch\r\n").head));
  CHECK(only_looks(Sent("Purpose: prefetch\r\n", "POST /sale HTTP/1.1").head));
  CHECK_FALSE(only_looks(Sent("").head));
  CHECK_FALSE(only_looks(Sent("Sec-Purpose: other\r\n").head));
}

TEST_CASE("another origin is told by Sec-Fetch-Site, else by Origin") {
  struct Case {
    std::string_view what, fields;
    bool is_other;
    bool is_other_of_trusted_peer;
  };
  const std::vector<Case> cases{
      {"a program", "", false, false},
      {"the page's own script", "Sec-Fetch-Site: same-origin\r\n", false, false},
      {"a subdomain", "Sec-Fetch-Site: same-site\r\n", true, true},
      {"another site", "Sec-Fetch-Site: cross-site\r\n", true, true},
      {"the address bar", "Sec-Fetch-Site: none\r\n", true, true},
      {"another site with our Origin",
       "Sec-Fetch-Site: cross-site\r\nOrigin: http://shop.example\r\n", true, true},
      {"our Origin", "Origin: https://shop.example\r\n", false, false},
      {"in capitals", "Origin: https://SHOP.example\r\n", false, false},
      {"another Origin", "Origin: https://evil.example\r\n", true, true},
      {"one that begins as ours", "Origin: https://shop.example.evil\r\n", true, true},
      {"one that ends as ours", "Origin: https://evil-shop.example\r\n", true, true},
      {"another port", "Origin: https://shop.example:8443\r\n", true, true},
      {"an opaque one", "Origin: null\r\n", true, true},
      {"a file", "Origin: file://\r\n", true, true},
      // A trusted peer may have rewritten Host; another sender makes the field up.
      {"that of the peer's Host",
       "Origin: https://www.example\r\nX-Forwarded-Host: www.example\r\n", true, false},
      {"in Forwarded",
       "Origin: https://www.example\r\nForwarded: for=10.0.0.1;host=www.example\r\n", true, false},
      {"the peer's Host is another one",
       "Origin: https://evil.example\r\nX-Forwarded-Host: www.example\r\n", true, true},
      {"the last Forwarded counts",
       "Origin: https://evil.example\r\nForwarded: host=evil.example, host=www.example\r\n", true,
       true},
      {"a file, and an empty Host", "Origin: file://\r\nX-Forwarded-Host: \r\n", true, true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    const Sent sent(c.fields);
    CHECK(is_of_another_origin(sent.head, false) == c.is_other);
    CHECK(is_of_another_origin(sent.head, true) == c.is_other_of_trusted_peer);
  }
}

}  // namespace spillway::proxy
