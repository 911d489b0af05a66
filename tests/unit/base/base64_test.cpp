#include "base/base64.hpp"

#include <doctest/doctest.h>

#include <string>

using spillway::base64;

TEST_CASE("bytes become the texts of RFC 4648 section 10") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
  CHECK(base64("fooba") == "Zm9vYmE=");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64(std::string("\xff\xef\x00\xfb", 4)) == "/+8A+w==");
}
