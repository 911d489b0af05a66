#include "waiting/token/return_path.hpp"

#include <doctest/doctest.h>

using spillway::waiting::return_path;

TEST_CASE("a visitor goes back to the page of this host that it came from") {
  CHECK(return_path("https://shop.example/sale?a=1&b=%20", "shop.example") == "/sale?a=1&b=%20");
  CHECK(return_path("http://127.0.0.1:8080/sale#top", "127.0.0.1:8080") == "/sale");
  CHECK(return_path("https://shop.example/", "shop.example") == "/");
}

TEST_CASE("a visitor is never sent to another host") {
  for (const char* const referer :
       {"", "/sale", "//evil.example/", "https://evil.example/sale", "https://shop.example",
        "https://shop.example.evil.example/sale", "https://shop.example:81/sale",
        "https://shop.example@evil.example/", "https://shop.example//evil.example/",
        "https://shop.example/\\evil.example", "https://shop.example/a b",
        "https://shop.example/a\r\nSet-Cookie: x", "https://shop.example/\xc3\xa9",
        "https://shop.example?x", "javascript:alert(1)", "ftp://shop.example/sale"}) {
    CAPTURE(referer);
    CHECK(return_path(referer, "shop.example") == "/");
  }
  CHECK(return_path("https:///sale", "") == "/");
}
