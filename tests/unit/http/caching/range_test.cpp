#include "http/caching/range.hpp"

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

// "first-last" of a content of this length, "416", or "left" to the origin.
std::string part(std::string_view range, std::uint64_t length) {
  const auto wanted = range_wanted(fields_of({{"Range", range}}));
  if (!wanted) return "left";
  const auto part = part_of(*wanted, length);
  return part ? std::to_string(part->first) + "-" + std::to_string(part->last) : "416";
}

}  // namespace

TEST_CASE("one range of bytes is cut from a content") {
  // RFC 9110 sections 14.1.2 and 14.2
  struct Case {
    std::string_view range;
    std::uint64_t length;
    std::string part;
  };
  const Case cases[] = {
      {"bytes=0-0", 10, "0-0"},
      {"bytes=2-4", 10, "2-4"},
      {"Bytes=2-4", 10, "2-4"},
      {"bytes= 2-4 ", 10, "2-4"},
      {"bytes=9-9", 10, "9-9"},
      {"bytes=5-99", 10, "5-9"},
      {"bytes=5-99999999999999999999", 10, "5-9"},
      {"bytes=5-", 10, "5-9"},
      {"bytes=-3", 10, "7-9"},
      {"bytes=-99", 10, "0-9"},
      {"bytes=-0", 10, "416"},
      {"bytes=10-", 10, "416"},
      {"bytes=99999999999999999999-", 10, "416"},
      {"bytes=0-", 0, "416"},
      {"bytes=-1", 0, "416"},
      {"bytes=4-2", 10, "left"},
      {"bytes=0-1,3-4", 10, "left"},
      {"bytes=", 10, "left"},
      {"bytes=-", 10, "left"},
      {"bytes=1", 10, "left"},
      {"bytes=a-2", 10, "left"},
      {"bytes=1-b", 10, "left"},
      {"bytes=1 - 2", 10, "left"},
      {"bytes=--2", 10, "left"},
      {"bytes=+1-2", 10, "left"},
      {"bytes 1-2", 10, "left"},
      {"lines=1-2", 10, "left"},
      {"", 10, "left"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.range);
    CHECK(part(one.range, one.length) == one.part);
  }
  CHECK_FALSE(range_wanted(fields_of({})));
  CHECK_FALSE(range_wanted(fields_of({{"Range", "bytes=1-2"}, {"Range", "bytes=1-2"}})));
}

TEST_CASE("If-Range lets a part be served only of the response that the client has") {
  // RFC 9110 section 13.1.5
  constexpr std::string_view kModified = "Sun, 06 Nov 1994 08:49:37 GMT";
  constexpr std::string_view kLater = "Sun, 06 Nov 1994 08:49:38 GMT";
  const std::chrono::sys_seconds now{std::chrono::seconds(1795287600)};
  struct Case {
    std::string_view condition;
    Validators response;
    bool holds;
  };
  const Case cases[] = {
      {"\"a\"", {.etag = "\"a\""}, true},
      {"\"a\"", {.etag = "\"b\""}, false},
      {"\"a\"", {}, false},
      {"W/\"a\"", {.etag = "W/\"a\""}, false},
      {"\"a\"", {.etag = "W/\"a\""}, false},
      {kModified, {.last_modified = kModified, .date = kLater}, true},
      {kModified, {.last_modified = kModified, .date = kModified}, false},
      {kModified, {.last_modified = kModified}, false},
      {kLater, {.last_modified = kModified, .date = kLater}, false},
      {"nonsense", {.last_modified = "nonsense", .date = kLater}, false},
      {"", {}, false},
  };
  for (const Case& one : cases) {
    CAPTURE(one.condition);
    CHECK(if_range_holds(fields_of({{"If-Range", one.condition}}), one.response, now) == one.holds);
  }
  CHECK(if_range_holds(fields_of({}), {}, now));
  CHECK_FALSE(if_range_holds(fields_of({{"If-Range", "\"a\""}, {"If-Range", "\"a\""}}),
                             {.etag = "\"a\""}, now));
}
