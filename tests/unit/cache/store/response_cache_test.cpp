#include "cache/store/response_cache.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "unit/cache/rules/asking.hpp"

namespace spillway::cache {
namespace {

const config::Cache kSettings{.max_bytes = 4 << 20, .max_entry_bytes = 1 << 19};

std::optional<Filling> begin(ResponseCache& cache, const Request& request, Response& response,
                             std::optional<std::uint64_t> length, TimePoint requested_at = kStart) {
  CacheKey key;
  cache.find(request.asked(), key, requested_at);
  response.head.fields = response.fields.list;
  return cache.begin(key, request.asked(), response.head, response.validity, response.open,
                     requested_at, requested_at, "Sun, 06 Nov 1994 08:49:37 GMT", length);
}

}  // namespace

TEST_CASE("a response is found once it is complete, with the fields that are stored") {
  ResponseCache cache(kSettings, kSipKey);
  const Request request("/a");
  CHECK(look(cache, request).result == Lookup::miss);
  Response response("", {{"ETag", "\"1\""},
                         {"Content-Length", "5"},
                         {"Connection", "X-Hop"},
                         {"X-Hop", "1"},
                         {"X-Other", "2"},
                         {"Last-Modified", "Sat, 05 Nov 1994 08:49:37 GMT"}});
  auto filling = begin(cache, request, response, std::nullopt);
  REQUIRE(filling);
  CHECK(filling->append("Hel"));
  CHECK(filling->append("lo"));
  CHECK(look(cache, request).result == Lookup::miss);
  CHECK(filling->commit(kStart)->content() == "Hello");

  const Found found = look(cache, request);
  REQUIRE(found.result == Lookup::fresh);
  const StoredResponse& stored = *found.response;
  CHECK(stored.status() == 200);
  CHECK(stored.reason_phrase() == "OK");
  CHECK(stored.content() == "Hello");
  CHECK(stored.etag() == "\"1\"");
  CHECK(stored.last_modified() == "Sat, 05 Nov 1994 08:49:37 GMT");
  CHECK(stored.date() == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(stored.lines() ==
        "ETag: \"1\"\r\nX-Other: 2\r\nLast-Modified: Sat, 05 Nov 1994 08:49:37 GMT\r\n"
        "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  http::FieldList fields;
  stored.read_fields(fields);
  REQUIRE(fields.size() == 4);
  CHECK(fields[0].id == http::FieldId::etag);
  CHECK(fields[1].name == "X-Other");
  CHECK(fields[1].value == "2");
}

TEST_CASE("a response ages") {
  ResponseCache cache(kSettings, kSipKey);
  const Request request("/a");
  Response response("x");
  response.validity = {.age = seconds(3),
                       .lifetime = seconds(10),
                       .stale_for = seconds(20),
                       .stale_on_error = seconds(30)};
  store(cache, request, response);
  CHECK(look(cache, request, kStart + milliseconds(6999)).result == Lookup::fresh);
  const Found found = look(cache, request, kStart + seconds(7));
  REQUIRE(found.result == Lookup::stale);
  const StoredResponse& stored = *found.response;
  CHECK(stored.age(kStart + seconds(7)) == seconds(10));
  CHECK(stored.freshness_left(kStart + seconds(9)) == seconds(-2));
  CHECK(stored.may_serve_stale(kStart + milliseconds(26999)));
  CHECK_FALSE(stored.may_serve_stale(kStart + seconds(27)));
  CHECK(stored.may_serve_on_error(kStart + milliseconds(36999)));
  CHECK_FALSE(stored.may_serve_on_error(kStart + seconds(37)));
  CHECK(look(cache, request, kStart + std::chrono::hours(9)).result == Lookup::stale);
}

TEST_CASE("an incomplete response is not stored and its memory is freed") {
  ResponseCache cache(kSettings, kSipKey);
  const std::uint64_t before = cache.counts().bytes;
  for (const std::size_t length : {std::size_t{10}, std::size_t{100000}}) {
    CAPTURE(length);
    const std::string part(length - 1, 'x');
    Response response("");
    SUBCASE("dropped midway") {
      auto filling = begin(cache, Request("/a"), response, length);
      REQUIRE(filling);
      CHECK(filling->append(part));
      CHECK(cache.counts().bytes >= before + length);
    }
    SUBCASE("shorter than announced") {
      auto filling = begin(cache, Request("/a"), response, length);
      REQUIRE(filling);
      CHECK(filling->append(part));
      CHECK_FALSE(filling->commit(kStart));
    }
    SUBCASE("longer than announced") {
      auto filling = begin(cache, Request("/a"), response, length);
      REQUIRE(filling);
      CHECK(filling->append(part));
      CHECK_FALSE(filling->append("xx"));
      CHECK_FALSE(filling->append("x"));
      CHECK_FALSE(filling->commit(kStart));
    }
    SUBCASE("of unknown length") {
      auto filling = begin(cache, Request("/a"), response, std::nullopt);
      REQUIRE(filling);
      CHECK(filling->append(part));
    }
  }
  CHECK(cache.counts().bytes == before);
  CHECK(cache.counts().stores == 0);
  CHECK(look(cache, Request("/a")).result == Lookup::miss);
}

TEST_CASE("a body of any length and in any pieces is stored unchanged") {
  ResponseCache cache(kSettings, kSipKey);
  for (const std::size_t length : {0, 1, 4095, 4096, 8000, 20000, 70000, 400000}) {
    for (const std::size_t piece : {1000, 65536}) {
      for (const bool announced : {true, false}) {
        CAPTURE(length);
        CAPTURE(piece);
        CAPTURE(announced);
        std::string body;
        for (std::size_t i = 0; i < length; ++i) body += static_cast<char>('a' + i % 26);
        Response response("");
        auto filling = begin(cache, Request("/a"), response,
                             announced ? std::optional<std::uint64_t>(length) : std::nullopt);
        REQUIRE(filling);
        for (std::size_t at = 0; at < length; at += piece) {
          REQUIRE(filling->append(std::string_view(body).substr(at, piece)));
        }
        REQUIRE(filling->commit(kStart));
        CHECK(content(cache, Request("/a")) == body);
      }
    }
  }
  CHECK(cache.counts().entries == 1);
}

TEST_CASE("a response bigger than max_entry_bytes is not stored") {
  ResponseCache cache({.max_bytes = 4 << 20, .max_entry_bytes = 10000}, kSipKey);
  Response response("");
  CHECK_FALSE(begin(cache, Request("/b"), response, 10000));
  CHECK_FALSE(begin(cache, Request("/b"), response, std::numeric_limits<std::uint64_t>::max()));
  CHECK(begin(cache, Request("/a"), response, 9000));
  auto filling = begin(cache, Request("/a"), response, std::nullopt);
  REQUIRE(filling);
  CHECK(filling->append(std::string(9000, 'x')));
  CHECK_FALSE(filling->append(std::string(1000, 'x')));
  SUBCASE("and not waited for") {
    CHECK(look(cache, Request("/a")).result == Lookup::unstorable);
    begin(cache, Request("/long"), response, 20000);
    CHECK(look(cache, Request("/long")).result == Lookup::unstorable);
    CHECK(look(cache, Request("/other")).result == Lookup::miss);
  }
  const std::string path(10000, 'p');
  CHECK_FALSE(begin(cache, Request(path), response, 1));
  CHECK_FALSE(begin(cache, Request(path), response, std::nullopt));
}

TEST_CASE("a response requested later replaces an earlier one and not the other way round") {
  ResponseCache cache(kSettings, kSipKey);
  const Request request("/a");
  Response old("old");
  Response fresh("new");
  auto slow = begin(cache, request, old, 3, kStart);
  REQUIRE(slow);
  CHECK(store(cache, request, fresh, kStart + seconds(1)));
  CHECK(slow->append("old"));
  CHECK(slow->commit(kStart + seconds(2))->content() == "new");
  CHECK(content(cache, request, kStart + seconds(2)) == "new");
  store(cache, request, Response("newest"), kStart + seconds(3));
  CHECK(content(cache, request, kStart + seconds(3)) == "newest");
  CHECK(cache.counts().entries == 1);
  CHECK(cache.counts().stores == 2);
}

TEST_CASE("an unstorable response is not waited for during ten seconds") {
  ResponseCache cache(kSettings, kSipKey);
  const Request request("/a");
  CacheKey key;
  cache.find(request.asked(), key, kStart);
  cache.mark_unstorable(key, kStart);
  CHECK(look(cache, request).result == Lookup::unstorable);
  CHECK(look(cache, request, kStart + milliseconds(9999)).result == Lookup::unstorable);
  CHECK(look(cache, request, kStart + seconds(10)).result == Lookup::miss);
  CHECK(look(cache, Request("/b")).result == Lookup::miss);

  cache.mark_unstorable(key, kStart + seconds(20));
  CHECK(look(cache, request, kStart + seconds(29)).result == Lookup::unstorable);
  store(cache, request, Response("x"), kStart + seconds(21));
  CHECK(look(cache, request, kStart + seconds(29)).result == Lookup::fresh);
  const Found stale = look(cache, request, kStart + seconds(100));
  CHECK(stale.result == Lookup::stale);
  CHECK_FALSE(stale.unstorable);
  cache.mark_unstorable(key, kStart + seconds(95));
  CHECK(look(cache, request, kStart + seconds(100)).unstorable);
}

TEST_CASE("an unstorable personal response does not hide the stored one from other clients") {
  ResponseCache cache(kSettings, kSipKey);
  const Request anyone("/home");
  const Request someone("/home", {{"Cookie", "id=1"}});
  store(cache, anyone, Response("welcome"));
  CacheKey hers;
  CHECK(cache.find(someone.asked(), hers, kStart).result == Lookup::miss);
  CacheKey any;
  cache.find(anyone.asked(), any, kStart);
  CHECK(hers.hash() != any.hash());
  cache.mark_unstorable(hers, kStart);
  CHECK(look(cache, someone).result == Lookup::unstorable);
  CHECK(content(cache, anyone) == "welcome");
}

TEST_CASE("an invalidation covers stored responses and those on their way, not later ones") {
  ResponseCache cache(kSettings, kSipKey);
  const Request request("/a");
  Request other_scheme("/a");
  other_scheme.scheme = "https";
  Response response("new");
  store(cache, request, Response("old"), kStart);
  store(cache, other_scheme, Response("old"), kStart);
  store(cache, Request("/b"), Response("b"), kStart);
  auto asked_before = begin(cache, request, response, 3, kStart + seconds(1));
  REQUIRE(asked_before);
  CHECK(asked_before->append("new"));

  cache.invalidate("SHOP.example", "/a", kStart + seconds(2));
  CHECK(look(cache, request, kStart + seconds(2)).result == Lookup::miss);
  CHECK(look(cache, other_scheme, kStart + seconds(2)).result == Lookup::miss);
  CHECK(content(cache, Request("/b"), kStart + seconds(2)) == "b");
  CHECK_FALSE(asked_before->commit(kStart + seconds(3)));
  CHECK_FALSE(store(cache, request, Response("same instant"), kStart + seconds(2)));
  CHECK(store(cache, request, Response("after"), kStart + seconds(3)));
  CHECK(content(cache, request, kStart + seconds(3)) == "after");
  CHECK(cache.counts().invalidations == 1);
}

TEST_CASE("withdrawing removes a response unless it was requested later") {
  ResponseCache cache(kSettings, kSipKey);
  const Request request("/a");
  CacheKey key;
  cache.find(request.asked(), key, kStart);
  store(cache, request, Response("x"), kStart + seconds(5));
  cache.withdraw(key, kStart + seconds(4));
  CHECK(content(cache, request, kStart + seconds(5)) == "x");
  cache.withdraw(key, kStart + seconds(5));
  CHECK(look(cache, request, kStart + seconds(5)).result == Lookup::miss);
  CHECK(cache.counts().entries == 0);
}

TEST_CASE("a reader keeps a response that left the store, and its bytes count until then") {
  for (const std::size_t length : {100, 300000}) {
    CAPTURE(length);
    ResponseCache cache(kSettings, kSipKey);
    const std::string body(length, 'x');
    StoredPtr held = store(cache, Request("/a"), Response(body));
    REQUIRE(held);
    const std::uint64_t before = cache.counts().bytes;
    CHECK(cache.purge({}, kStart + seconds(1)) == 1);
    CHECK(cache.counts().entries == 0);
    CHECK(cache.counts().bytes == before);
    CHECK(held->content() == body);
    held.reset();
    CHECK(cache.counts().bytes + length <= before);
  }
}

TEST_CASE("a stored response outlives copies of its pointer") {
  ResponseCache cache(kSettings, kSipKey);
  StoredPtr a = store(cache, Request("/a"), Response("x"));
  StoredPtr b = a;
  a = b;
  CHECK(a == b);
  b = std::move(a);
  CHECK_FALSE(a);
  CHECK(b->content() == "x");
  b = nullptr;
  CHECK(content(cache, Request("/a")) == "x");
}

}  // namespace spillway::cache
