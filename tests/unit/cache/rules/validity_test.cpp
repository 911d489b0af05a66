#include "cache/rules/validity.hpp"

#include <doctest/doctest.h>

#include "unit/cache/rules/messages.hpp"

using namespace spillway;
using namespace spillway::cache;
using std::chrono::seconds;
using std::chrono::sys_seconds;

namespace {

// Sat, 21 Nov 2026 19:00:00 GMT
const sys_seconds kArrived{seconds(1795287600)};
constexpr std::string_view kDate = "Sat, 21 Nov 2026 19:00:00 GMT";
constexpr std::string_view kMinuteAgo = "Sat, 21 Nov 2026 18:59:00 GMT";
constexpr std::string_view kInAnHour = "Sat, 21 Nov 2026 20:00:00 GMT";

const config::Cache kSettings{.ttl = Milliseconds(1500), .stale = Milliseconds(60000)};

Validity of(const Lines& lines, unsigned status = 200, Duration delay = Duration(0),
            const config::Cache& settings = kSettings) {
  return validity_of(response_of(status, lines), settings, kArrived, delay);
}

double lifetime(const Lines& lines, unsigned status = 200) {
  return to_seconds(of(lines, status).lifetime);
}

double age(const Lines& lines, Duration delay = Duration(0)) {
  return to_seconds(of(lines, 200, delay).age);
}

}  // namespace

TEST_CASE("a response is as old as Date or Age and the delay say") {
  // RFC 9111 section 4.2.3
  CHECK(age({}) == 0);
  CHECK(age({{"Date", kDate}}) == 0);
  CHECK(age({{"Date", kMinuteAgo}}) == 60);
  CHECK(age({{"Date", kInAnHour}}) == 0);
  CHECK(age({{"Date", "never"}}) == 0);
  CHECK(age({}, Milliseconds(250)) == 0.25);
  CHECK(age({}, -Milliseconds(250)) == 0);
  CHECK(age({{"Age", "90"}}) == 90);
  CHECK(age({{"Age", "90"}}, Milliseconds(250)) == 90.25);
  CHECK(age({{"Age", "90"}, {"Date", kMinuteAgo}}) == 90);
  CHECK(age({{"Age", "30"}, {"Date", kMinuteAgo}}, Milliseconds(250)) == 60);
  CHECK(age({{"Date", "Sat Nov 21 18:59:00 2026"}}) == 60);
  CHECK(age({{"Date", "Saturday, 21-Nov-26 18:59:00 GMT"}}) == 60);
}

TEST_CASE("of Age the first value counts if it is a number") {
  // RFC 9111 section 5.1
  CHECK(age({{"Age", "7200, 0"}}) == 7200);
  CHECK(age({{"Age", "0, 7200"}}) == 0);
  CHECK(age({{"Age", "7200"}, {"Age", "0"}}) == 7200);
  CHECK(age({{"Age", "0"}, {"Age", "7200"}}) == 0);
  for (const std::string_view value : {"abc", "-7200", "7200.0", "7200;x=1", "", "+7200"}) {
    CAPTURE(value);
    CHECK(age({{"Age", value}}) == 0);
  }
  CHECK(age({{"Age", "99999999999999999999"}}, Milliseconds(1)) == 2147483648);
}

TEST_CASE("a lifetime is s-maxage else max-age else Expires else the configured one") {
  // RFC 9111 sections 4.2.1 and 5.3
  CHECK(lifetime({{"Cache-Control", "max-age=60"}}) == 60);
  CHECK(lifetime({{"Cache-Control", "max-age=60, s-maxage=5"}}) == 5);
  CHECK(lifetime({{"Cache-Control", "max-age=5, s-maxage=60"}}) == 60);
  CHECK(lifetime({{"Cache-Control", "max-age=5, s-maxage=x"}}) == 0);
  CHECK(lifetime({{"Cache-Control", "max-age=60"}, {"Expires", "0"}}) == 60);
  CHECK(lifetime({{"Cache-Control", "max-age=x"}, {"Expires", kInAnHour}}) == 0);
  CHECK(lifetime({{"Expires", kInAnHour}, {"Date", kDate}}) == 3600);
  CHECK(lifetime({{"Expires", kInAnHour}}) == 3600);
  CHECK(lifetime({{"Expires", kInAnHour}, {"Date", kMinuteAgo}}) == 3660);
  CHECK(lifetime({{"Expires", kInAnHour}, {"Date", "never"}}) == 3600);
  CHECK(lifetime({{"Expires", kMinuteAgo}, {"Date", kDate}}) == 0);
  CHECK(lifetime({{"Expires", kDate}, {"Date", kDate}}) == 0);
  CHECK(lifetime({{"Expires", "0"}}) == 0);
  CHECK(lifetime({{"Expires", ""}}) == 0);
  CHECK(lifetime({{"Expires", "Thu, 18 Aug 2050 02:01:18 UTC"}}) == 0);
  CHECK(lifetime({{"Expires", kInAnHour}, {"Expires", "0"}}) == 0);
  CHECK(lifetime({{"Expires", kInAnHour}, {"Expires", kDate}}) == 0);
  CHECK(lifetime({{"Expires", "Fri, 31 Dec 9999 23:59:59 GMT"}}) == 2147483648);
  CHECK(lifetime({}) == 1.5);
  CHECK(lifetime({{"Cache-Control", "must-revalidate"}}) == 1.5);
}

TEST_CASE("a lifetime is guessed only where the status or public gives leave") {
  // RFC 9111 section 4.2.2, RFC 9110 section 15.1
  config::Cache keeps_errors = kSettings;
  keeps_errors.error_ttl = Milliseconds(2500);
  const auto with_errors = [&](const Lines& lines, unsigned status) {
    return to_seconds(of(lines, status, {}, keeps_errors).lifetime);
  };
  for (const unsigned status : {200, 203, 204, 300, 301, 308}) {
    CAPTURE(status);
    CHECK(lifetime({}, status) == 1.5);
    CHECK(with_errors({}, status) == 1.5);
  }
  for (const unsigned status : {404, 405, 410, 414, 501}) {
    CAPTURE(status);
    CHECK(lifetime({}, status) == 0);
    CHECK(with_errors({}, status) == 2.5);
  }
  for (const unsigned status : {201, 202, 206, 302, 303, 307, 400, 401, 403, 429, 500, 503, 599}) {
    CAPTURE(status);
    CHECK(with_errors({}, status) == 0);
    CHECK(with_errors({{"Cache-Control", "public"}}, status) == (status < 400 ? 1.5 : 2.5));
    CHECK(lifetime({{"Cache-Control", "max-age=9"}}, status) == 9);
  }
  CHECK(lifetime({{"Pragma", "no-cache"}}) == 0);
  CHECK(lifetime({{"Pragma", "no-cache"}, {"Cache-Control", "public"}}) == 0);
  CHECK(lifetime({{"Pragma", "no-cache"}, {"Cache-Control", "max-age=9"}}) == 9);
}

TEST_CASE("a share of the time since Last-Modified is a lifetime if that is configured") {
  // RFC 9111 section 4.2.2
  config::Cache settings = kSettings;
  settings.heuristic_ratio = 0.1;
  const auto guessed = [&](const Lines& lines, unsigned status = 200) {
    return to_seconds(of(lines, status, {}, settings).lifetime);
  };
  constexpr std::string_view kHourAgo = "Sat, 21 Nov 2026 18:00:00 GMT";
  CHECK(guessed({{"Last-Modified", kHourAgo}}) == 360);
  CHECK(guessed({{"Last-Modified", kHourAgo}, {"Date", kMinuteAgo}}) == 354);
  CHECK(guessed({{"Last-Modified", kMinuteAgo}}) == 6);
  CHECK(guessed({{"Last-Modified", kInAnHour}}) == 1.5);
  CHECK(guessed({{"Last-Modified", kDate}}) == 1.5);
  CHECK(guessed({{"Last-Modified", "never"}}) == 1.5);
  CHECK(guessed({}) == 1.5);
  CHECK(guessed({{"Last-Modified", "Mon, 21 Nov 1994 18:00:00 GMT"}}) == 86400);
  CHECK(guessed({{"Last-Modified", kHourAgo}, {"Cache-Control", "max-age=5"}}) == 5);
  CHECK(guessed({{"Last-Modified", kHourAgo}, {"Expires", kMinuteAgo}}) == 0);
  CHECK(guessed({{"Last-Modified", kHourAgo}, {"Pragma", "no-cache"}}) == 0);
  CHECK(guessed({{"Last-Modified", kHourAgo}}, 201) == 0);
  CHECK(guessed({{"Last-Modified", kHourAgo}}, 404) == 0);  // errors have a ttl of their own
  CHECK(lifetime({{"Last-Modified", kHourAgo}}) == 1.5);
}

TEST_CASE("a failure is given for as long as it says and no longer") {
  for (const unsigned status : {500, 502, 503, 504, 599}) {
    CAPTURE(status);
    const Validity validity = of({{"Cache-Control", "max-age=5, stale-if-error=9"}}, status);
    CHECK(to_seconds(validity.lifetime) == 5);
    CHECK(to_seconds(validity.stale_for) == 0);
    CHECK(to_seconds(validity.stale_on_error) == 0);
  }
  CHECK(to_seconds(of({{"Cache-Control", "max-age=5"}}, 404).stale_for) == 60);
}

TEST_CASE("staleness is what the response says else what is configured") {
  // RFC 5861 sections 3 and 4
  struct Case {
    std::string_view control;
    double stale_for;
    double stale_on_error;
  };
  const Case cases[] = {
      {"", 60, 60},
      {"max-age=5", 60, 60},
      {"public", 60, 60},
      {"max-age=5, stale-while-revalidate=7", 7, 60},
      {"max-age=5, stale-if-error=9", 60, 9},
      {"stale-while-revalidate=700, stale-if-error=900", 700, 900},
      {"stale-while-revalidate=0, stale-if-error=0", 0, 0},
      {"stale-while-revalidate=x, stale-if-error", 0, 0},
      {"stale-while-revalidate=99999999999", 2147483648, 60},
      // RFC 9111 section 4.2.4
      {"max-age=5, must-revalidate", 0, 0},
      {"max-age=5, proxy-revalidate", 0, 0},
      {"s-maxage=5", 0, 0},
      {"s-maxage=5, stale-while-revalidate=7, stale-if-error=9", 0, 0},
      {"must-revalidate, stale-while-revalidate=7, stale-if-error=9", 0, 0},
      {"no-cache, stale-while-revalidate=7, stale-if-error=9", 0, 0},
  };
  for (const Case& one : cases) {
    CAPTURE(one.control);
    const Validity validity = of({{"Cache-Control", one.control}});
    CHECK(to_seconds(validity.stale_for) == one.stale_for);
    CHECK(to_seconds(validity.stale_on_error) == one.stale_on_error);
  }
}

TEST_CASE("no-cache leaves nothing to be used unasked") {
  // RFC 9111 section 5.2.2.4
  for (const std::string_view control :
       {"no-cache", "no-cache, max-age=60", "max-age=60, No-Cache=\"Set-Cookie\"",
        "s-maxage=60, no-cache, public"}) {
    CAPTURE(control);
    const Validity validity =
        of({{"Cache-Control", control}, {"Expires", kInAnHour}, {"Age", "30"}});
    CHECK(validity.lifetime == Duration(0));
    CHECK(validity.stale_for == Duration(0));
    CHECK(validity.stale_on_error == Duration(0));
    CHECK(validity.age == seconds(30));
  }
}

TEST_CASE("without stale_if_error nothing stale stands in for errors") {
  config::Cache settings = kSettings;
  settings.stale_if_error = false;
  const Validity validity =
      of({{"Cache-Control", "max-age=5, stale-if-error=9"}}, 200, {}, settings);
  CHECK(validity.stale_on_error == Duration(0));
  CHECK(validity.stale_for == seconds(60));
}

TEST_CASE("sums of the longest times do not overflow") {
  const config::Cache settings{.ttl = Milliseconds::max(), .stale = Milliseconds::max()};
  const Validity validity = of({{"Age", "9999999999"}}, 200, Duration::max() / 2, settings);
  CHECK(to_seconds(validity.age + validity.lifetime + validity.stale_for) == 3 * 2147483648.0);
  CHECK(validity.age > Duration(0));
  CHECK(validity.stale_on_error == http::kMaxDeltaSeconds);
}

TEST_CASE("what could only be thrown away again is of no use") {
  const auto useful = [](const Lines& lines) {
    return is_reusable(of(lines), response_of(200, lines));
  };
  CHECK(useful({}));
  CHECK(useful({{"Cache-Control", "max-age=0"}}));                            // stale for a minute
  CHECK(useful({{"Cache-Control", "max-age=0, stale-while-revalidate=0"}}));  // in place of errors
  CHECK_FALSE(useful({{"Cache-Control", "max-age=0, must-revalidate"}}));
  CHECK(useful({{"Cache-Control", "max-age=0, must-revalidate"}, {"ETag", "\"a\""}}));
  CHECK(useful({{"Cache-Control", "no-cache"}, {"Last-Modified", kDate}}));
  CHECK_FALSE(useful({{"Cache-Control", "no-cache"}}));
  CHECK_FALSE(useful({{"Cache-Control", "s-maxage=5"}, {"Age", "5"}}));
  CHECK(useful({{"Cache-Control", "s-maxage=5"}, {"Age", "4"}}));
}
