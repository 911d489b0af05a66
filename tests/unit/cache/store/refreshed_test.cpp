// A 304 updates a stored response.
#include <doctest/doctest.h>

#include "cache/rules/merge.hpp"
#include "unit/cache/rules/asking.hpp"

namespace spillway::cache {
namespace {

const config::Cache kSettings{.max_bytes = 4 << 20, .max_entry_bytes = 1 << 20};

StoredPtr refresh(ResponseCache& cache, const StoredPtr& old, const Lines& not_modified,
                  TimePoint now, const Validity& validity = {.lifetime = seconds(60)}) {
  http::FieldList stored;
  old->read_fields(stored);
  http::FieldList merged;
  REQUIRE(merge(stored, fields_of(not_modified), merged));
  return cache.refreshed(old, merged, validity, old->is_open(), now, now);
}

}  // namespace

TEST_CASE("a 304 renews the times and fields of a response of any size") {
  for (const std::size_t size : {0, 10, 5000, 100000, 600000}) {
    CAPTURE(size);
    ResponseCache cache(kSettings, kSipKey);
    const Request request("/a");
    const std::string body(size, 'x');
    StoredPtr old = store(cache, request, Response(body, {{"ETag", "\"1\""}, {"X", "old"}}));
    const TimePoint later = kStart + seconds(100);
    for (int round = 0; round < 3; ++round) {
      CAPTURE(round);
      const StoredPtr renewed =
          refresh(cache, old, {{"X", round == 0 ? "new" : "newer"}, {"Y", "1"}}, later);
      REQUIRE_FALSE(renewed == old);
      CHECK(renewed->content() == body);
      CHECK(renewed->etag() == "\"1\"");
      CHECK(renewed->status() == 200);
      CHECK(renewed->reason_phrase() == "OK");
      CHECK(old->content() == body);
      old = renewed;
    }
    const Found found = look(cache, request, later + seconds(59));
    REQUIRE(found.result == Lookup::fresh);
    CHECK(found.response->lines() == "ETag: \"1\"\r\nX: newer\r\nY: 1\r\n");
    CHECK(found.response->content() == body);
    CHECK(found.response->requested_at() == later);
    CHECK(cache.counts().entries == 1);
    CHECK(cache.counts().bytes < cache.counts().max_bytes / 4 + size);
  }
}

TEST_CASE("renewed responses are evicted like others") {
  ResponseCache cache(kSettings, kSipKey);
  const std::string body(200000, 'x');
  for (int i = 0; i < 200; ++i) {
    const TimePoint now = kStart + seconds(i);
    const StoredPtr old = store(cache, Request("/" + std::to_string(i)), Response(body), now);
    REQUIRE(old);
    REQUIRE_FALSE(refresh(cache, old, {{"X", "1"}}, now + milliseconds(1)) == old);
    REQUIRE(cache.counts().bytes <= cache.counts().max_bytes);
  }
  CHECK(cache.counts().entries > 10);
  CHECK(cache.counts().entries < 21);
}

TEST_CASE("a 304 for a response that has left the store puts it back") {
  ResponseCache cache(kSettings, kSipKey);
  const Request request("/a");
  StoredPtr old = store(cache, request, Response("x"));
  cache.purge({}, kStart + seconds(1));
  refresh(cache, old, {}, kStart + seconds(2));
  CHECK(content(cache, request, kStart + seconds(2)) == "x");
  SUBCASE("but not if it was asked for before the purge") {
    cache.purge({}, kStart + seconds(3));
    CHECK(refresh(cache, old, {}, kStart + seconds(3)) == old);
    CHECK(content(cache, request, kStart + seconds(3)) == "-");
  }
}

TEST_CASE("a 304 does not replace a later response") {
  ResponseCache cache(kSettings, kSipKey);
  const Request request("/a");
  StoredPtr old = store(cache, request, Response("old"));
  store(cache, request, Response("new"), kStart + seconds(2));
  refresh(cache, old, {}, kStart + seconds(1));
  CHECK(content(cache, request, kStart + seconds(2)) == "new");
}

TEST_CASE("a 304 about another response removes this one") {
  ResponseCache cache(kSettings, kSipKey);
  const Request request("/a", {{"A", "1"}});
  const StoredPtr old = store(cache, request, Response("x", {{"ETag", "\"1\""}, {"Vary", "A"}}));
  SUBCASE("by its tag") {
    CHECK(refresh(cache, old, {{"ETag", "\"2\""}}, kStart + seconds(1)) == old);
    CHECK(content(cache, request) == "-");
  }
  SUBCASE("by what it varies by") {
    CHECK(refresh(cache, old, {{"Vary", "A, B"}}, kStart + seconds(1)) == old);
    CHECK(content(cache, request) == "-");
  }
  SUBCASE("not by a weak tag") {
    CHECK_FALSE(refresh(cache, old, {{"ETag", "W/\"1\""}}, kStart + seconds(1)) == old);
    CHECK(content(cache, request) == "x");
  }
  SUBCASE("not by fewer names") {
    CHECK_FALSE(refresh(cache, old, {{"Vary", ""}}, kStart + seconds(1)) == old);
    CHECK(content(cache, request) == "x");
  }
}

}  // namespace spillway::cache
