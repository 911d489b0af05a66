#include "jobs/retry_after.hpp"

#include <doctest/doctest.h>

#include <string>

#include "unit/jobs/fields.hpp"

using namespace spillway::jobs;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::sys_days;

namespace {

// Sun, 06 Nov 1994 08:49:37 GMT
const auto kNow =
    sys_days(std::chrono::year(1994) / 11 / 6) + hours(8) + std::chrono::minutes(49) + seconds(37);

std::optional<milliseconds> read(std::string_view value) {
  return parse_retry_after(fields_of({{"retry-after", value}}), kNow);
}

}  // namespace

TEST_CASE("Retry-After is read as seconds") {
  CHECK(read("0") == seconds(0));
  CHECK(read("120") == seconds(120));
  CHECK(read("00007") == seconds(7));
}

TEST_CASE("Retry-After is read as a date, of which one that has passed is now") {
  CHECK(read("Sun, 06 Nov 1994 08:50:07 GMT") == seconds(30));
  CHECK(read("Sunday, 06-Nov-94 08:50:07 GMT") == seconds(30));
  CHECK(read("Sun Nov  6 08:50:07 1994") == seconds(30));
  CHECK(read("Sun, 06 Nov 1994 08:49:37 GMT") == seconds(0));
  CHECK(read("Sat, 05 Nov 1994 08:49:37 GMT") == seconds(0));
}

TEST_CASE("Retry-After is at most a day") {
  CHECK(read("86399") == seconds(86399));
  CHECK(read("86401") == hours(24));
  CHECK(read(std::string(80, '9')) == hours(24));
  CHECK(read("Fri, 31 Dec 9999 23:59:59 GMT") == hours(24));
}

TEST_CASE("a part of a second does not make the pause too short") {
  const auto fields = fields_of({{"Retry-After", "Sun, 06 Nov 1994 08:50:07 GMT"}});
  const auto pause = parse_retry_after(fields, kNow + milliseconds(400));
  REQUIRE(pause);
  CHECK(kNow + milliseconds(400) + *pause >= kNow + seconds(30));
}

TEST_CASE("a Retry-After that cannot be read is none") {
  for (const char* wrong : {"", "-1", "+1", "1.5", "5 s", "soon", "0x10", "1,2",
                            "Sun, 06 Nov 1994 08:50:07 CET", "Sun, 31 Feb 1994 08:50:07 GMT"}) {
    CAPTURE(wrong);
    CHECK_FALSE(read(wrong));
  }
  CHECK_FALSE(parse_retry_after(fields_of({{"Accept", "5"}}), kNow));
}
