#include "system/soak/expected.hpp"

#include <doctest/doctest.h>

#include <string>

namespace spillway::soak {

TEST_CASE("parameters are found by their whole name") {
  const std::string target = "/a/b?size=12&delay=3&x";
  CHECK(parameter(target, "size") == "12");
  CHECK(parameter(target, "delay") == "3");
  CHECK(parameter(target, "lay") == "");
  CHECK(parameter("/a/b", "size") == "");
  CHECK(number(target, "size", 64) == 12);
  CHECK(number(target, "x", 64) == 64);
}

TEST_CASE("a body is known by the line that names its request") {
  const std::string line = line_of("/a?size=100", "de", "");
  for (const std::size_t size : {0, 1, 14, 15, 16, 100, 100'000}) {
    CAPTURE(size);
    const std::string body = body_of(line, size);
    CHECK(body.size() == size);
    CHECK(is_body_of(line, size, body));
  }
}

TEST_CASE("the body of another request or half of one is not taken for it") {
  const std::string line = line_of("/a", "de", "ann");
  const std::string body = body_of(line, 100);
  CHECK_FALSE(is_body_of(line_of("/b", "de", "ann"), 100, body));
  CHECK_FALSE(is_body_of(line_of("/a", "en", "ann"), 100, body));
  CHECK_FALSE(is_body_of(line_of("/a", "de", "bob"), 100, body));
  CHECK_FALSE(is_body_of(line, 100, body.substr(0, 99)));
  CHECK_FALSE(is_body_of(line, 99, body));
  std::string broken = body;
  broken[99] ^= 1;
  CHECK_FALSE(is_body_of(line, 100, broken));
}

}  // namespace spillway::soak
