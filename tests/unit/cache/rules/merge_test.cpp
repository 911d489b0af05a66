#include "cache/rules/merge.hpp"

#include <doctest/doctest.h>

#include <string>

#include "unit/cache/rules/messages.hpp"

using namespace spillway;
using namespace spillway::cache;

namespace {

std::string merged(const Lines& stored, const Lines& not_modified) {
  const http::FieldList before = fields_of(stored);
  const http::FieldList renewing = fields_of(not_modified);
  http::FieldList fields;
  REQUIRE(merge(before, renewing, fields));
  std::string text;
  for (const http::Field& field : fields) {
    text += std::string(field.name) + ": " + std::string(field.value) + "\n";
  }
  return text;
}

http::Field field_of(std::string_view name) { return fields_of({{name, "x"}})[0]; }

}  // namespace

TEST_CASE("what is of this hop or this exchange or the framing is not stored") {
  // RFC 9111 section 3.1
  const http::FieldList fields = fields_of({{"Connection", "close, X-Hop"}});
  const http::HopByHop hop(fields);
  for (const char* name :
       {"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Transfer-Encoding",
        "TE", "Upgrade", "X-Hop", "x-hop", "Content-Length", "Trailer", "Age", "X-Request-Id",
        "Server-Timing", "traceparent", "Tracestate", "Set-Cookie", "Set-Cookie2"}) {
    CAPTURE(name);
    CHECK_FALSE(is_stored(field_of(name), hop));
    CHECK_FALSE(renews(field_of(name), hop));
  }
  CHECK_FALSE(is_stored(field_of("Spillway-Degraded"), hop));
  CHECK_FALSE(renews(field_of("spillway-ticket"), hop));
  CHECK(is_stored(field_of("Spillway-Colour"), hop));
  for (const char* name : {"Date", "ETag", "Cache-Control", "Vary", "Via", "Content-Type",
                           "Content-Encoding", "Link", "X-Other", "Content-Security-Policy"}) {
    CAPTURE(name);
    CHECK(is_stored(field_of(name), hop));
  }
}

TEST_CASE("a 304 replaces the fields it brings and leaves the others") {
  // RFC 9111 section 3.2
  CHECK(merged({{"ETag", "\"a\""}, {"X-One", "1"}, {"Cache-Control", "max-age=1"}, {"x-two", "2"}},
               {{"Date", "d"}, {"cache-control", "max-age=60"}, {"X-TWO", "3"}}) ==
        "ETag: \"a\"\nX-One: 1\nDate: d\ncache-control: max-age=60\nX-TWO: 3\n");
  CHECK(merged({{"X-One", "1"}, {"X-One", "2"}, {"Link", "a"}}, {{"x-one", "3"}}) ==
        "Link: a\nx-one: 3\n");
  CHECK(merged({{"X-One", "1"}}, {{"X-One", "2"}, {"X-One", "3"}}) == "X-One: 2\nX-One: 3\n");
  CHECK(merged({{"X-One", "1"}}, {}) == "X-One: 1\n");
  CHECK(merged({}, {{"X-One", "1"}}) == "X-One: 1\n");
  CHECK(merged({{"X-One", "1"}, {"X-Two", "2"}}, {{"X-On", "0"}, {"X-Three", "3"}}) ==
        "X-One: 1\nX-Two: 2\nX-On: 0\nX-Three: 3\n");
}

TEST_CASE("a 304 does not change how the stored bytes are to be read") {
  const Lines stored{{"Content-Type", "image/png"}, {"Content-Encoding", "gzip"}};
  CHECK(merged(stored, {{"Content-Type", "text/html"},
                        {"Content-Encoding", "br"},
                        {"Content-Range", "bytes 0-1/2"},
                        {"Content-Length", "0"},
                        {"Content-Language", "en"}}) ==
        "Content-Type: image/png\nContent-Encoding: gzip\nContent-Language: en\n");
}

TEST_CASE("what a 304 says to this hop only replaces nothing") {
  CHECK(merged({{"X-One", "1"}, {"X-Two", "2"}},
               {{"Connection", "X-One"}, {"X-One", "hop"}, {"Set-Cookie", "a=1"}, {"Age", "9"}}) ==
        "X-One: 1\nX-Two: 2\n");
}

TEST_CASE("more fields than a list holds cannot be merged") {
  http::FieldList stored;
  http::FieldList not_modified;
  while (stored.push({"X-One", "1", http::FieldId::unknown})) {
  }
  http::FieldList fields;
  CHECK(merge(stored, not_modified, fields));
  CHECK(fields.size() == http::FieldList::kCapacity);
  not_modified.push({"X-Two", "2", http::FieldId::unknown});
  CHECK_FALSE(merge(stored, not_modified, fields));
  not_modified.push({"X-One", "2", http::FieldId::unknown});
  CHECK(merge(stored, not_modified, fields));
  CHECK(fields.size() == 2);
}
