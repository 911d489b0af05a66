#include "http/caching/date.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace spillway::http;
using std::chrono::days;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

namespace {

sys_seconds at(int year, unsigned month, unsigned day, int hour = 0, int minute = 0,
               int second = 0) {
  return sys_days(std::chrono::year(year) / static_cast<int>(month) / static_cast<int>(day)) +
         std::chrono::hours(hour) + std::chrono::minutes(minute) + seconds(second);
}

const sys_seconds kNow = at(2026, 11, 21, 19);

std::string text_of(sys_seconds time) {
  const DateText text = date_text(time);
  return {text.begin(), text.end()};
}

}  // namespace

TEST_CASE("the three forms of a date are read") {
  // RFC 9110 section 5.6.7; any case by RFC 9111 section 4.2
  const sys_seconds expected = at(1994, 11, 6, 8, 49, 37);
  for (const char* text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994", "Sun Nov 06 08:49:37 1994",
                           "SUN, 06 nOV 1994 08:49:37 gmt", "sunday, 06-NOV-94 08:49:37 GMT",
                           "sun nov  6 08:49:37 1994", "Mon, 06 Nov 1994 08:49:37 GMT"}) {
    CAPTURE(text);
    const auto time = parse_date(text, kNow);
    REQUIRE(time);
    CHECK(*time == expected);
  }
}

TEST_CASE("a date that is not exactly one of the forms is none") {
  for (const char* text : {"",
                           "0",
                           "-1",
                           "now",
                           "1994-11-06T08:49:37Z",
                           "784111777",
                           "Sun, 06 Nov 1994 08:49:37",
                           "Sun, 06 Nov 1994 08:49:37 UTC",
                           "Sun, 06 Nov 1994 08:49:37 AEST",
                           "Sun, 06 Nov 1994 08:49:37 +0000",
                           "Sun, 06 Nov 1994 08:49:37 GMT ",
                           " Sun, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 GMTX",
                           "Sun, 06 Nov 1994 8:49:37 GMT",
                           "Sun, 6 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 94 08:49:37 GMT",
                           "Sun, 06 Nov 1994  08:49:37 GMT",
                           "Sun, 06  Nov 1994 08:49:37 GMT",
                           "Sun 06 Nov 1994 08:49:37 GMT",
                           "Sun,06 Nov 1994 08:49:37 GMT",
                           "Sun, 06-Nov-1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08.49.37 GMT",
                           "Son, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Now 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 24:00:00 GMT",
                           "Sun, 06 Nov 1994 23:60:00 GMT",
                           "Sun, 06 Nov 1994 23:59:61 GMT",
                           "Sun, 31 Nov 1994 08:49:37 GMT",
                           "Sun, 00 Nov 1994 08:49:37 GMT",
                           "Wed, 29 Feb 2023 08:49:37 GMT",
                           "Sunday, 06-Nov-1994 08:49:37 GMT",
                           "Sunday, 06 Nov 94 08:49:37 GMT",
                           "Sun, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov 6 08:49:37 1994",
                           "Sun Nov  6 08:49:37 1994 GMT",
                           "Sunday Nov  6 08:49:37 1994",
                           "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_date(text, kNow));
  }
}

TEST_CASE("every prefix of a date is none") {
  for (const std::string whole : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                                  "Sun Nov  6 08:49:37 1994"}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(whole.substr(0, size));
      CHECK_FALSE(parse_date(std::string_view(whole).substr(0, size), kNow));
    }
  }
}

TEST_CASE("a leap second is the second before it and 29 February exists in leap years") {
  CHECK(parse_date("Sat, 31 Dec 2016 23:59:60 GMT", kNow) == at(2016, 12, 31, 23, 59, 59));
  CHECK(parse_date("Thu, 29 Feb 2024 00:00:00 GMT", kNow) == at(2024, 2, 29));
}

TEST_CASE("a year of two digits is at most 50 years ahead") {
  // RFC 9110 section 5.6.7
  struct Case {
    sys_seconds now;
    const char* date;
    sys_seconds expected;
  };
  const Case cases[] = {
      {kNow, "Friday, 01-Jan-27 00:00:00 GMT", at(2027, 1, 1)},
      {kNow, "Sunday, 01-Nov-76 00:00:00 GMT", at(2076, 11, 1)},
      {kNow, "Saturday, 21-Nov-76 19:00:00 GMT", at(2076, 11, 21, 19)},
      {kNow, "Saturday, 21-Nov-76 19:00:01 GMT", at(1976, 11, 21, 19, 0, 1)},
      {kNow, "Tuesday, 01-Jan-77 00:00:00 GMT", at(1977, 1, 1)},
      {kNow, "Thursday, 31-Dec-99 23:59:59 GMT", at(1999, 12, 31, 23, 59, 59)},
      {at(1999, 12, 31), "Saturday, 01-Jan-00 00:00:00 GMT", at(2000, 1, 1)},
      {at(1999, 12, 31), "Saturday, 01-Jan-49 00:00:00 GMT", at(2049, 1, 1)},
      {at(1999, 12, 31), "Saturday, 01-Jan-50 00:00:00 GMT", at(1950, 1, 1)},
      {at(2060, 2, 1), "Saturday, 01-Jan-09 00:00:00 GMT", at(2109, 1, 1)},
      {at(2060, 2, 1), "Saturday, 01-Jan-11 00:00:00 GMT", at(2011, 1, 1)},
      {at(2024, 2, 29), "Saturday, 28-Feb-74 00:00:00 GMT", at(2074, 2, 28)},
  };
  for (const Case& one : cases) {
    CAPTURE(one.date);
    const auto time = parse_date(one.date, one.now);
    REQUIRE(time);
    CHECK(time->time_since_epoch().count() == one.expected.time_since_epoch().count());
  }
}

TEST_CASE("dates are written in the preferred form and read back") {
  CHECK(text_of(at(1994, 11, 6, 8, 49, 37)) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(text_of(at(1970, 1, 1)) == "Thu, 01 Jan 1970 00:00:00 GMT");
  CHECK(text_of(at(2026, 11, 21, 19, 3, 31)) == "Sat, 21 Nov 2026 19:03:31 GMT");
  CHECK(text_of(at(20000, 1, 1)) == "Fri, 31 Dec 9999 23:59:59 GMT");
  CHECK(text_of(at(-5, 1, 1)) == "Sat, 01 Jan 0000 00:00:00 GMT");
  // 100 003 s and 37 days are prime to the cycles of days and months.
  for (sys_seconds time = at(1890, 1, 1); time < at(2120, 1, 1);
       time += days(37) + seconds(100003)) {
    const std::string text = text_of(time);
    CAPTURE(text);
    CHECK(parse_date(text, kNow) == time);
  }
}
