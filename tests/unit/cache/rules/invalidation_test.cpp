#include "cache/rules/invalidation.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::cache;
using http::Verb;

TEST_CASE("unsafe methods without an error end what is stored") {
  // RFC 9111 section 4.4, RFC 9110 section 9.2.1
  for (const Verb safe : {Verb::get, Verb::head, Verb::options, Verb::trace}) {
    CAPTURE(static_cast<int>(safe));
    CHECK_FALSE(invalidates(safe, 200));
  }
  for (const Verb unsafe : {Verb::post, Verb::put, Verb::delete_, Verb::patch, Verb::unknown}) {
    CAPTURE(static_cast<int>(unsafe));
    for (const unsigned status : {200, 201, 204, 301, 302, 303, 307, 399}) {
      CHECK(invalidates(unsafe, status));
    }
    for (const unsigned status : {100, 199, 400, 404, 412, 500, 503}) {
      CHECK_FALSE(invalidates(unsafe, status));
    }
  }
}

TEST_CASE("a Location on the same authority is ended too") {
  struct Case {
    std::string_view reference;
    std::string_view target;
  };
  const Case cases[] = {
      {"/a/b", "/a/b"},
      {"/a?b=1#c", "/a?b=1"},
      {"http://Example.com:81/a?b", "/a?b"},
      {"HTTP://example.com:81/a", "/a"},
      {"https://example.com:81/a", "/a"},
      {"//example.com:81/a", "/a"},
      {"http://example.com:81", "/"},
      {"http://example.com:81#x", "/"},
      {"http://example.com:81?q", ""},
      {"http://example.com/a", ""},
      {"http://other.com:81/a", ""},
      {"http://example.com:81.evil.org/a", ""},
      {"http://x@example.com:81/a", ""},
      {"http:/a", ""},
      {"ftp://example.com:81/a", ""},
      {"a/b", ""},
      {"?q", ""},
      {"#x", ""},
      {"", ""},
  };
  for (const Case& one : cases) {
    CAPTURE(one.reference);
    CHECK(same_authority_target(one.reference, "example.com:81") == one.target);
  }
}
