#include "http/field/request_id.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace spillway;
using namespace spillway::http;

TEST_CASE("made names are valid and differ") {
  Random random(1);
  std::array<char, kRequestIdSize> first;
  std::array<char, kRequestIdSize> second;
  std::array<char, kTraceparentSize> trace;
  const std::string_view id = make_request_id(random, first);
  CHECK(id.size() == 32);
  CHECK(id.find_first_not_of("0123456789abcdef") == std::string_view::npos);
  CHECK(id != make_request_id(random, second));
  CHECK(valid_request_id(id));
  const std::string_view traceparent = make_traceparent(random, trace);
  CHECK(valid_traceparent(traceparent));
  CHECK(traceparent.starts_with("00-"));
  CHECK(traceparent.ends_with("-01"));
}

TEST_CASE("a request id is short and visible and free of delimiters") {
  CHECK(valid_request_id("a"));
  CHECK(valid_request_id("9f1c-4e/x:y=z"));
  CHECK(valid_request_id(std::string(128, 'a')));
  CHECK_FALSE(valid_request_id(std::string(129, 'a')));
  for (const char* id : {"", "a b", "a\tb", "a\"b", "a\\b", "a,b", "a;b", "\xc3\xa4", "\x7f"}) {
    CAPTURE(id);
    CHECK_FALSE(valid_request_id(id));
  }
}

TEST_CASE("a traceparent is what W3C Trace Context says") {
  const std::string good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
  CHECK(valid_traceparent(good));
  CHECK(valid_traceparent("01" + good.substr(2)));
  CHECK(valid_traceparent("01" + good.substr(2) + "-more"));
  for (const std::string& bad :
       {std::string(), good.substr(1), good + "0", good + "-more", "01" + good.substr(2) + "more",
        "ff" + good.substr(2), "0G" + good.substr(2), good.substr(0, 53) + "0A",
        std::string("00-00000000000000000000000000000000-00f067aa0ba902b7-00"),
        std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-00"),
        std::string("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-00"),
        std::string("00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")}) {
    CAPTURE(bad);
    CHECK_FALSE(valid_traceparent(bad));
  }
}
