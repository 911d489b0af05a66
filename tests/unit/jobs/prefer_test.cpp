#include "jobs/prefer.hpp"

#include <doctest/doctest.h>

#include <string>

#include "unit/jobs/fields.hpp"

using namespace spillway::jobs;
using std::chrono::seconds;

namespace {

Preference read(std::string_view value) { return parse_prefer(fields_of({{"prefer", value}})); }

bool asks(std::string_view value) { return read(value).respond_async; }
std::optional<seconds> waits(std::string_view value) { return read(value).wait; }

}  // namespace

TEST_CASE("a request without Prefer has no preference") {
  const Preference none = parse_prefer(fields_of({{"Accept", "respond-async"}}));
  CHECK_FALSE(none.respond_async);
  CHECK_FALSE(none.wait);
}

TEST_CASE("respond-async and wait are read, in any case and order") {
  for (const char* both :
       {"respond-async, wait=10", "wait=10,respond-async", "Respond-Async , WAIT = 10",
        "return=minimal, wait=10, respond-async", ",, respond-async,,wait=\"10\",",
        "respond-async; x=1; y, wait=10;z=2"}) {
    CAPTURE(both);
    CHECK(asks(both));
    CHECK(waits(both) == seconds(10));
  }
}

TEST_CASE("several fields are one list") {
  const Preference both = parse_prefer(
      fields_of({{"Prefer", "respond-async"}, {"Host", "a"}, {"Prefer", "wait=3, wait=9"}}));
  CHECK(both.respond_async);
  CHECK(both.wait == seconds(3));
}

TEST_CASE("the first wait counts, even if it cannot be read") {
  CHECK(waits("wait=5, wait=7") == seconds(5));
  CHECK_FALSE(waits("wait=soon, wait=7"));
  CHECK_FALSE(waits("wait, wait=7"));
}

TEST_CASE("a wait is whole seconds and at most an hour") {
  CHECK(waits("wait=0") == seconds(0));
  CHECK(waits("wait=3600") == seconds(3600));
  CHECK(waits("wait=3601") == seconds(3600));
  CHECK(waits("wait=" + std::string(60, '9')) == seconds(3600));
  for (const char* wrong : {"wait=-1", "wait=+1", "wait=1.5", "wait=1s", "wait=", "wait=\"\"",
                            "wait=99999999999999999999999x"}) {
    CAPTURE(wrong);
    CHECK_FALSE(waits(wrong));
  }
}

TEST_CASE("what stands in quotes is not a preference") {
  CHECK_FALSE(asks("foo=\"a, respond-async, b\""));
  CHECK_FALSE(asks("foo=\"a\\\", respond-async\""));
  CHECK_FALSE(asks("foo; bar=\"x, respond-async\""));
  CHECK_FALSE(asks("foo=\"no end, respond-async"));
  // negative control: behind the quotes it is
  CHECK(asks("foo=\"a, b\", respond-async"));
  CHECK(asks("foo=\"a\\\"\", respond-async"));
}

TEST_CASE("a longer or shorter name is another preference") {
  for (const char* other : {"respond-asynch", "respond-asyn", "x-respond-async", "waits=5",
                            "foo=respond-async", "foo;respond-async"}) {
    CAPTURE(other);
    CHECK_FALSE(asks(other));
    CHECK_FALSE(waits(other));
  }
}
