#include "degrade/response_cache.hpp"

#include <doctest/doctest.h>

namespace spillway::degrade {
namespace {

using std::chrono::seconds;

const TimePoint kStart = TimePoint{} + std::chrono::hours(1);

}  // namespace

TEST_CASE("an answer is found once it is complete") {
  ResponseCache cache({.max_bytes = 1 << 22}, {1, 2});
  http::FieldList fields;
  const Asked asked{.authority = "shop.example", .path_and_query = "/a", .fields = fields};
  CacheKey key;
  CHECK(cache.find(asked, key, kStart).result == Lookup::miss);
  http::ResponseHead head;
  head.status = 200;
  head.reason_phrase = "OK";
  head.fields.push({"ETag", "\"1\"", http::FieldId::etag});
  auto filling = cache.begin(key, asked, head, {.lifetime = seconds(5)}, false, kStart, kStart,
                             "Sun, 06 Nov 1994 08:49:37 GMT", std::nullopt);
  REQUIRE(filling);
  CHECK(filling->append("Hel"));
  CHECK(filling->append("lo"));
  CHECK(cache.find(asked, key, kStart).result == Lookup::miss);
  CHECK(filling->commit(kStart));
  const Found found = cache.find(asked, key, kStart);
  REQUIRE(found.result == Lookup::fresh);
  CHECK(found.response->content() == "Hello");
  CHECK(found.response->etag() == "\"1\"");
  CHECK(found.response->lines() == "ETag: \"1\"\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  CHECK(cache.find(asked, key, kStart + seconds(5)).result == Lookup::stale);
}

}  // namespace spillway::degrade
