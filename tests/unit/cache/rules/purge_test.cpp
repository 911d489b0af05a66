#include "cache/rules/purge.hpp"

#include <doctest/doctest.h>

#include "unit/cache/rules/asking.hpp"

namespace spillway::cache {
namespace {

const config::Cache kSettings{.max_bytes = 4 << 20, .max_entry_bytes = 1 << 19};

bool matches(Purge::What what, std::string_view text, std::string_view path) {
  return spillway::cache::matches({what, text}, "shop.example", path);
}

}  // namespace

TEST_CASE("a purge by key names one URI") {
  const auto is_key = [](std::string_view text, std::string_view path) {
    return matches(Purge::What::key, text, path);
  };
  CHECK(is_key("/a?b", "/a?b"));
  CHECK(is_key("http://shop.example/a?b", "/a?b"));
  CHECK(is_key("HTTP://Shop.Example/a?b", "/a?b"));
  CHECK(is_key("http://shop.example?b", "/?b"));
  CHECK(is_key("http://shop.example", "/"));
  CHECK_FALSE(is_key("/a", "/a?b"));
  CHECK_FALSE(is_key("/a?b", "/a"));
  CHECK(is_key("https://shop.example/a", "/a"));
  CHECK_FALSE(is_key("http://shop.example:80/a", "/a"));
  CHECK_FALSE(is_key("http://example/a", "/a"));
  CHECK_FALSE(is_key("shop.example/a", "/a"));
  CHECK_FALSE(is_key("", "/"));
  CHECK(is_key("/http://shop.example/", "/http://shop.example/"));
}

TEST_CASE("a purge by prefix names the paths that begin so") {
  const auto is_prefix = [](std::string_view text, std::string_view path) {
    return matches(Purge::What::prefix, text, path);
  };
  CHECK(is_prefix("/a", "/a"));
  CHECK(is_prefix("/a", "/ab"));
  CHECK(is_prefix("/", "/ab"));
  CHECK(is_prefix("http://shop.example", "/ab"));
  CHECK(is_prefix("http://shop.example/a", "/ab?c"));
  CHECK_FALSE(is_prefix("/ab", "/a"));
  CHECK_FALSE(is_prefix("http://shop", "/"));
  CHECK_FALSE(is_prefix("", "/"));
}

TEST_CASE("a purge takes out every variant and tenant of what it names and tells how many") {
  ResponseCache cache(kSettings, kSipKey);
  Request of_tenant("/a/1");
  of_tenant.tenant = "acme";
  store(cache, Request("/a/1"), Response("x"));
  store(cache, of_tenant, Response("x"));
  store(cache, Request("/a/2", {{"B", "1"}}), Response("x", {{"Vary", "B"}}));
  store(cache, Request("/a/2", {{"B", "2"}}), Response("x", {{"Vary", "B"}}));
  store(cache, Request("/b"), Response("x"));
  const TimePoint later = kStart + seconds(1);

  SUBCASE("by key") {
    CHECK(cache.purge({Purge::What::key, "/a/1"}, later) == 2);
    CHECK(cache.purge({Purge::What::key, "/a/1"}, later) == 0);
    CHECK(cache.purge({Purge::What::key, "http://shop.example/a/2"}, later) == 2);
    CHECK(content(cache, of_tenant) == "-");
    CHECK(look(cache, Request("/a/2", {{"B", "2"}})).result == Lookup::miss);
    CHECK(content(cache, Request("/b")) == "x");
  }
  SUBCASE("by prefix") {
    CHECK(cache.purge({Purge::What::prefix, "/a/"}, later) == 4);
    CHECK(cache.counts().entries == 1);
    CHECK(content(cache, Request("/b")) == "x");
  }
  SUBCASE("all") {
    CHECK(cache.purge({}, later) == 5);
    CHECK(cache.counts().entries == 0);
    CHECK(cache.purge({}, later) == 0);
  }
  CHECK(cache.counts().evictions == 0);
}

TEST_CASE("what was asked for before a purge is not stored after it") {
  ResponseCache cache(kSettings, kSipKey);
  const Request request("/a");
  CacheKey key;
  cache.find(request.asked(), key, kStart);
  http::ResponseHead head;
  head.status = 200;
  auto filling = cache.begin(key, request.asked(), head, {.lifetime = seconds(60)}, false, kStart,
                             kStart, {}, 1);
  REQUIRE(filling);
  CHECK(cache.purge({Purge::What::key, "/a"}, kStart + seconds(1)) == 0);
  CHECK(filling->append("x"));
  CHECK_FALSE(filling->commit(kStart + seconds(2)));
  CHECK_FALSE(store(cache, request, Response("x"), kStart + seconds(1)));
  CHECK(store(cache, request, Response("x"), kStart + milliseconds(1001)));
}

TEST_CASE("a purge gives the memory of large answers back") {
  ResponseCache cache(kSettings, kSipKey);
  const std::uint64_t empty = cache.counts().bytes;
  for (int i = 0; i < 8; ++i) {
    store(cache, Request("/" + std::to_string(i)), Response(std::string(300000, 'x')));
  }
  CHECK(cache.counts().bytes > empty + 8 * 300000);
  CHECK(cache.purge({}, kStart + seconds(1)) == 8);
  CHECK(cache.counts().bytes < empty + 100000);
}

}  // namespace spillway::cache
