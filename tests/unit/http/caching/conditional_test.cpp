#include "http/caching/conditional.hpp"

#include <doctest/doctest.h>

#include <boost/beast/http/field.hpp>
#include <string>
#include <utility>
#include <vector>

using namespace spillway::http;

namespace {

using Lines = std::vector<std::pair<std::string_view, std::string_view>>;

FieldList fields_of(const Lines& lines) {
  FieldList fields;
  for (const auto& [name, value] : lines) {
    fields.push({name, value, boost::beast::http::string_to_field(name)});
  }
  return fields;
}

const std::chrono::sys_seconds kNow{std::chrono::seconds(1795287600)};

bool matches(const Lines& request, const Validators& response) {
  return not_modified(fields_of(request), response, kNow);
}

bool matches_tag(std::string_view condition, std::string_view etag) {
  return matches({{"If-None-Match", condition}}, {.etag = etag});
}

constexpr std::string_view kOlder = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr std::string_view kModified = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::string_view kNewer = "Sun, 06 Nov 1994 08:49:38 GMT";

}  // namespace

TEST_CASE("entity tags are compared weakly in a list") {
  // RFC 9110 sections 8.8.3.2 and 13.1.2
  struct Case {
    std::string_view condition;
    std::string_view etag;
    bool matches;
  };
  const Case cases[] = {
      {"\"a\"", "\"a\"", true},
      {"\"a\"", "\"b\"", false},
      {"\"a\"", "\"A\"", false},
      {"W/\"a\"", "\"a\"", true},
      {"\"a\"", "W/\"a\"", true},
      {"W/\"a\"", "W/\"a\"", true},
      {"w/\"a\"", "\"a\"", false},
      {"W\"a\"", "\"a\"", false},
      {"\"x\", \"y\", \"a\"", "\"a\"", true},
      {"\"x\",\"a\",\"y\"", "\"a\"", true},
      {"\"x\"\t,\tW/\"a\" , \"y\"", "\"a\"", true},
      {", ,\"a\",", "\"a\"", true},
      {"\"x, y\", \"a\"", "\"a\"", true},
      {"\"x, y\"", "\"y\"", false},
      {"\"a, b\"", "\"a, b\"", true},
      {"\"x\\\", \"a\"", "\"a\"", true},  // a backslash escapes nothing
      {"\"\"", "\"\"", true},
      {"\"\"", "\"a\"", false},
      {"*", "\"a\"", true},
      {"*", "", true},
      {"\"*\"", "\"a\"", false},
      {"\"a\"", "", false},
      {"", "\"a\"", false},
      {"", "", false},
      {"a", "\"a\"", false},
      {"\"a", "\"a\"", false},
      {"\"a\" \"b\"", "\"a\"", false},
      {"\"x\"\"a\"", "\"a\"", false},
      {"\"x\"; \"a\"", "\"a\"", false},
      {"x, \"a\"", "\"a\"", false},
      {"\"a\"", "a", false},
      {"a", "a", true},  // the same text
      {"\"a\"", "\"a\"b", false},
      {"\"caf\xc3\xa9\"", "\"caf\xc3\xa9\"", true},
  };
  for (const Case& one : cases) {
    CAPTURE(one.condition);
    CAPTURE(one.etag);
    CHECK(matches_tag(one.condition, one.etag) == one.matches);
  }
}

TEST_CASE("If-None-Match fields are one list") {
  CHECK(matches({{"If-None-Match", "\"x\""}, {"if-none-match", "\"a\""}}, {.etag = "\"a\""}));
  CHECK_FALSE(matches({{"If-None-Match", "\"x\""}, {"If-None-Match", "\"y\""}}, {.etag = "\"a\""}));
}

TEST_CASE("a response that is not younger is not modified") {
  // RFC 9110 section 13.1.3
  struct Case {
    std::string_view since;
    std::string_view last_modified;
    bool matches;
  };
  const Case cases[] = {
      {kModified, kModified, true},
      {kNewer, kModified, true},
      {kOlder, kModified, false},
      {"Sunday, 06-Nov-94 08:49:37 GMT", kModified, true},
      {"Sun Nov  6 08:49:37 1994", kModified, true},
      {"1994-11-06", kModified, false},
      {"", kModified, false},
      {kModified, "", false},
      {kModified, "yesterday", false},
      {kModified, "Sunday, 06-Nov-94 08:49:37 GMT", true},
  };
  for (const Case& one : cases) {
    CAPTURE(one.since);
    CAPTURE(one.last_modified);
    CHECK(matches({{"If-Modified-Since", one.since}}, {.last_modified = one.last_modified}) ==
          one.matches);
  }
}

TEST_CASE("Date stands in for a Last-Modified that is missing") {
  // RFC 9111 section 4.3.2
  const Lines request{{"If-Modified-Since", kModified}};
  CHECK(matches(request, {.date = kModified}));
  CHECK_FALSE(matches(request, {.date = kNewer}));
  CHECK_FALSE(matches(request, {.last_modified = kNewer, .date = kModified}));
  CHECK(matches(request, {.last_modified = kOlder, .date = kNewer}));
}

TEST_CASE("If-None-Match decides alone when both are there") {
  // RFC 9110 section 13.2.2
  const Validators response{.etag = "\"a\"", .last_modified = kModified};
  CHECK(matches({{"If-None-Match", "\"a\""}, {"If-Modified-Since", kOlder}}, response));
  CHECK_FALSE(matches({{"If-Modified-Since", kNewer}, {"If-None-Match", "\"b\""}}, response));
  CHECK_FALSE(matches({{"If-Modified-Since", kNewer}, {"If-None-Match", ""}}, response));
}

TEST_CASE("requests without a condition or with two dates get the whole response") {
  const Validators response{.etag = "\"a\"", .last_modified = kModified, .date = kModified};
  CHECK_FALSE(matches({}, response));
  CHECK_FALSE(matches({{"If-Match", "\"a\""}}, response));
  CHECK_FALSE(matches({{"If-Modified-Since", kNewer}, {"If-Modified-Since", kNewer}}, response));
}

TEST_CASE("only fields for a part or for a certain state ask the origin") {
  for (const std::string_view name : {"Range", "If-Range", "If-Match", "If-Unmodified-Since"}) {
    CAPTURE(name);
    CHECK(has_range_or_precondition(fields_of({{name, "x"}})));
  }
  for (const std::string_view name : {"If-None-Match", "If-Modified-Since", "Accept"}) {
    CAPTURE(name);
    CHECK_FALSE(has_range_or_precondition(fields_of({{name, "x"}})));
  }
}
