#include "bench/load/request_number.hpp"

#include <doctest/doctest.h>

using namespace spillway::load;

TEST_CASE("a number reads as it was written") {
  for (const RequestNumber number : {RequestNumber{0, 1}, {17, 2}, {4294967295u, 200}}) {
    CHECK(parse_number(text_of(number)) == number);
  }
  CHECK(text_of({17, 2}) == "17-2");
}

TEST_CASE("what is no number of a request is none") {
  for (const char* text :
       {"", "17", "17-", "-2", "17-2x", "x-1", "17--2", " 17-2", "4294967296-1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_number(text).has_value());
  }
}
