#include "base/time_text.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace spillway {
namespace {

WallTime at(std::int64_t ms) { return WallTime(std::chrono::milliseconds(ms)); }

}  // namespace

TEST_CASE("a time is printed in UTC with milliseconds and read back as it was") {
  CHECK(to_text(at(0)) == "1970-01-01T00:00:00.000Z");
  CHECK(to_text(at(1'795'464'000'007)) == "2026-11-23T20:00:00.007Z");
  CHECK(to_text(at(-1)) == "1969-12-31T23:59:59.999Z");
  for (const std::int64_t ms : {0L, 1L, -1L, 951'782'400'000L, 1'795'464'000'007L})
    CHECK(parse_time(to_text(at(ms))) == at(ms));
}

TEST_CASE("a time may have an offset and any fraction of a second") {
  CHECK(parse_time("2026-11-23T21:00:00+01:00") == at(1'795'464'000'000));
  CHECK(parse_time("2026-11-23t15:30:00-04:30") == at(1'795'464'000'000));
  CHECK(parse_time("2026-11-23 20:00:00z") == at(1'795'464'000'000));
  CHECK(parse_time("2026-11-23T20:00:00.5Z") == at(1'795'464'000'500));
  CHECK(parse_time("2026-11-23T20:00:00.123456789Z") == at(1'795'464'000'123));
  CHECK(parse_time("2016-12-31T23:59:60Z") == parse_time("2017-01-01T00:00:00Z"));
}

TEST_CASE("what is no time is not read as one") {
  for (const char* text : {"",
                           "now",
                           "2026-11-23",
                           "2026-11-23T20:00:00",
                           "2026-11-23T20:00Z",
                           "2026-13-01T00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-01-00T00:00:00Z",
                           "2026-01-01T24:00:00Z",
                           "2026-01-01T00:60:00Z",
                           "2026-01-01T00:00:61Z",
                           "2026-01-01T00:00:00.Z",
                           "2026-01-01T00:00:00.1234567890Z",
                           "2026-01-01T00:00:00+24:00",
                           "2026-01-01T00:00:00+0100",
                           "2026-01-01T00:00:00Z ",
                           " 2026-01-01T00:00:00Z",
                           "+026-01-01T00:00:00Z",
                           "1795464000"}) {
    CHECK_FALSE_MESSAGE(parse_time(text), text);
  }
  CHECK_FALSE(parse_time("2024-02-30T00:00:00Z"));
  CHECK(parse_time("2024-02-29T00:00:00Z"));
}

}  // namespace spillway
