#include "cache/rules/cache_key.hpp"

#include <doctest/doctest.h>

#include "unit/cache/rules/asking.hpp"

namespace spillway::cache {
namespace {

const config::Cache kSettings{.max_bytes = 4 << 20, .max_entry_bytes = 1 << 19};

// Whether the answer to one request is given to the other.
bool is_shared(const Request& first, const Request& second, const Lines& answer = {},
               const config::Cache& settings = kSettings) {
  ResponseCache cache(settings, kSipKey);
  Response response("x", answer);
  response.open = true;
  REQUIRE(store(cache, first, response));
  REQUIRE(content(cache, first) == "x");
  return content(cache, second) == "x";
}

std::string united(std::string_view known, const Lines& answer,
                   const std::vector<std::string>& configured = {}) {
  const Fields fields(answer);
  std::string names = "left over";
  return unite_names(known, fields.list, configured, names) ? names : "none";
}

}  // namespace

TEST_CASE("an answer is given to the same request only") {
  const Request request("/a?b=1");
  CHECK(is_shared(request, Request("/a?b=1")));
  for (const char* other : {"/a", "/a?b=2", "/a?b=1&c", "/A?b=1", "/a%3Fb=1", "/"}) {
    CAPTURE(other);
    CHECK_FALSE(is_shared(request, Request(other)));
  }
  Request of_other_host("/a?b=1");
  of_other_host.authority = "shop.example:81";
  CHECK_FALSE(is_shared(request, of_other_host));
  Request loud("/a?b=1");
  loud.authority = "Shop.EXAMPLE";
  CHECK(is_shared(request, loud));
  Request safe("/a?b=1");
  safe.scheme = "https";
  CHECK_FALSE(is_shared(request, safe));
}

TEST_CASE("the forwarding fields that go on to the upstream are parts of the key") {
  struct Asked : Request {
    explicit Asked(const Lines& lines, bool is_trusted = true) : Request("/", lines) {
      is_forwarding_trusted = is_trusted;
    }
  };
  const Lines prefixed{{"X-Forwarded-Prefix", "/a"}};
  CHECK(is_shared(Asked(prefixed), Asked(prefixed)));
  CHECK(is_shared(Asked(prefixed), Asked(Lines{{"x-forwarded-prefix", "/a"}})));
  for (const Lines& other :
       {Lines{}, Lines{{"X-Forwarded-Prefix", "/b"}}, Lines{{"X-Forwarded-Prefix", ""}},
        Lines{{"X-Forwarded-Prefix", "/a"}, {"X-Forwarded-Prefix", "/a"}},
        Lines{{"X-Forwarded-Prefi", "x:/a"}},
        Lines{{"X-Forwarded-Prefix", "/a"}, {"X-Forwarded-User", "ann"}}}) {
    CHECK_FALSE(is_shared(Asked(prefixed), Asked(other)));
    CHECK(is_shared(Asked(prefixed, false), Asked(other, false)));
  }
  for (const char* name : {"X-Host", "x-original-host", "X-HTTP-Host-Override", "X-Scheme",
                           "Front-End-Https", "X-Url-Scheme"}) {
    CAPTURE(name);
    CHECK_FALSE(is_shared(Asked(Lines{{name, "a"}}), Asked(Lines{{name, "b"}})));
    CHECK_FALSE(is_shared(Asked(Lines{{name, "a"}}), Asked(Lines{})));
  }
  for (const char* name : {"X-Forwarded-For", "X-Real-IP", "X-Other"}) {
    CAPTURE(name);
    CHECK(is_shared(Asked(Lines{{name, "a"}}), Asked(Lines{{name, "b"}})));
  }
}

TEST_CASE("parts of a key do not run into each other") {
  Request one("/c");
  one.authority = "a.b";
  Request two("/c");
  two.authority = "a";
  two.path = ".b/c";
  CHECK_FALSE(is_shared(one, two));
  config::Cache settings = kSettings;
  settings.vary = {"A", "B"};
  CHECK_FALSE(is_shared(Request("/", {{"A", "1"}, {"B", "2"}}),
                        Request("/", {{"A", "12"}, {"B", ""}}), {}, settings));
  CHECK_FALSE(is_shared(Request("/", {{"A", "1"}}), Request("/", {{"B", "1"}}), {}, settings));
}

TEST_CASE("a target without a path asks for the root") {
  CHECK(is_shared(Request("?q"), Request("/?q")));
  CHECK_FALSE(is_shared(Request("?q"), Request("//?q")));
  CHECK(uri_hash(kSipKey, "h", "?q") == uri_hash(kSipKey, "h", "/?q"));
}

TEST_CASE("tenants have answers of their own unless the route shares them") {
  Request acme("/");
  acme.tenant = "acme";
  Request other("/");
  other.tenant = "other";
  CHECK(is_shared(acme, acme));
  CHECK_FALSE(is_shared(acme, other));
  CHECK_FALSE(is_shared(acme, Request("/")));
  CHECK_FALSE(is_shared(Request("/"), acme));
  config::Cache settings = kSettings;
  settings.across_tenants = true;
  CHECK(is_shared(acme, other, {}, settings));
  CHECK(is_shared(acme, Request("/"), {}, settings));
}

TEST_CASE("a tenant told by a field is not the one of that name told by a key") {
  ResponseCache cache(kSettings, kSipKey);
  Request by_key("/");
  by_key.tenant = "acme";
  store(cache, by_key, Response("x"));
  CacheRequest by_field = by_key.asked();
  by_field.tenant_in_key = {.by_field = "X-Tenant"};
  CacheKey key;
  CHECK(cache.find(by_field, key, kStart).result == Lookup::miss);
}

TEST_CASE("of what is not forwarded nothing is in the key") {
  config::Cache settings = kSettings;
  settings.vary = {"X-Real-IP"};
  const auto is_found = [&](bool trusted) {
    ResponseCache cache(settings, kSipKey);
    store(cache, Request("/"), Response("x"));
    const Request with_address("/", {{"X-Real-IP", "10.0.0.1"}});
    CacheRequest asked = with_address.asked();
    asked.hop = http::HopByHop(asked.fields, http::kNoFieldsConfigured, trusted);
    CacheKey key;
    return cache.find(asked, key, kStart).result != Lookup::miss;
  };
  CHECK(is_found(false));
  CHECK_FALSE(is_found(true));
}

TEST_CASE("X-Forwarded-* of a client that is not trusted splits no answer that varies by it") {
  for (const bool is_trusted : {false, true}) {
    CAPTURE(is_trusted);
    Request one("/", {{"X-Forwarded-Host", "a.example"}});
    Request other("/", {{"X-Forwarded-Host", "b.example"}});
    one.is_forwarding_trusted = other.is_forwarding_trusted = is_trusted;
    CHECK(is_shared(one, other, {{"Vary", "X-Forwarded-Host"}}) == !is_trusted);
  }
}

TEST_CASE("answers vary by the fields that Vary or the configuration names") {
  const auto shared = [](const Lines& first, const Lines& second) {
    const bool by_answer =
        is_shared(Request("/", first), Request("/", second), {{"Vary", "accept-LANGUAGE"}});
    config::Cache settings = kSettings;
    settings.vary = {"Accept-Language"};
    CHECK(is_shared(Request("/", first), Request("/", second), {}, settings) == by_answer);
    return by_answer;
  };
  CHECK(shared({{"Accept-Language", "de"}}, {{"accept-language", "de"}}));
  CHECK(shared({{"Accept-Language", "de"}, {"X-Other", "1"}}, {{"Accept-Language", "de"}}));
  CHECK(shared({}, {}));
  CHECK_FALSE(shared({{"Accept-Language", "de"}}, {{"Accept-Language", "en"}}));
  CHECK(shared({{"Accept-Language", "de, en"}}, {{"Accept-Language", "DE ,en"}}));
  CHECK_FALSE(shared({{"Accept-Language", "de, en"}}, {{"Accept-Language", "en, de"}}));
  SUBCASE("a protected field that Connection names is forwarded") {
    const Lines named{{"Accept-Language", "de"}, {"Connection", "Accept-Language"}};
    CHECK(shared(named, {{"Accept-Language", "de"}}));
    CHECK_FALSE(shared(named, {}));
  }
  SUBCASE("another field that Connection names is not") {
    const auto by_theme = [](const Lines& first, const Lines& second) {
      return is_shared(Request("/", first), Request("/", second), {{"Vary", "Theme"}});
    };
    const Lines taken_out{{"Theme", "dark"}, {"Connection", "Theme"}};
    CHECK_FALSE(by_theme(taken_out, {{"Theme", "dark"}}));
    CHECK_FALSE(by_theme({{"Theme", "dark"}}, taken_out));
    CHECK(by_theme(taken_out, {}));
    CHECK(by_theme(taken_out, {{"Theme", "light"}, {"Connection", "close, theme"}}));
    CHECK_FALSE(by_theme({{"Theme", "dark"}, {"Connection", "X-Theme"}}, {}));
  }
  SUBCASE("absent is not empty") {
    CHECK_FALSE(shared({}, {{"Accept-Language", ""}}));
    CHECK_FALSE(shared({{"Accept-Language", ""}}, {}));
  }
  SUBCASE("lines are joined in order") {
    CHECK(shared({{"Accept-Language", "de"}, {"Accept-Language", "en"}},
                 {{"Accept-Language", "de, en"}}));
    CHECK_FALSE(shared({{"Accept-Language", "de"}, {"Accept-Language", "en"}},
                       {{"Accept-Language", "en"}, {"Accept-Language", "de"}}));
    CHECK(
        shared({{"Accept-Language", "de"}, {"Accept-Language", ""}}, {{"Accept-Language", "de"}}));
  }
}

TEST_CASE("answers to a URI vary by all that any of them was seen to vary by") {
  ResponseCache cache(kSettings, kSipKey);
  const Request german("/", {{"A", "de"}, {"B", "1"}});
  const Request english("/", {{"A", "en"}, {"B", "1"}});
  const Request english2("/", {{"A", "en"}, {"B", "2"}});
  store(cache, german, Response("de", {{"Vary", "A"}}));
  CHECK(content(cache, german) == "de");
  CHECK(look(cache, english).result == Lookup::vary_miss);
  store(cache, english, Response("en", {{"Vary", "B"}}));
  CHECK(content(cache, english) == "en");
  CHECK(look(cache, english2).result == Lookup::vary_miss);
  // Kept apart from now on, though this one does not say so.
  store(cache, english2, Response("en2"));
  CHECK(content(cache, english2) == "en2");
  CHECK(content(cache, english) == "en");
  // Those kept by fewer names are found no more.
  CHECK(look(cache, german).result == Lookup::vary_miss);
  CHECK(look(cache, Request("/other")).result == Lookup::miss);
}

TEST_CASE("an answer that varies takes the place of one that does not") {
  ResponseCache cache(kSettings, kSipKey);
  const Request german("/", {{"A", "de"}});
  store(cache, german, Response("any"));
  CHECK(content(cache, Request("/", {{"A", "en"}})) == "any");
  store(cache, german, Response("de", {{"Vary", "A"}}));
  CHECK(content(cache, german) == "de");
  CHECK(content(cache, Request("/", {{"A", "en"}})) == "-");
}

TEST_CASE("names are united in lower case and order and without doubles") {
  CHECK(united("", {}) == "");
  CHECK(united("", {{"Vary", "B, a"}, {"X", "y"}, {"Vary", "A,,C "}}) == "a,b,c");
  CHECK(united("a,x", {{"Vary", "B"}}) == "a,b,x");
  CHECK(united("a", {}) == "a");
  CHECK(united("", {{"Vary", "Accept, B"}}, {"accept"}) == "b");
  CHECK(united("", {{"Vary", "*"}}) == "none");
  CHECK(united("a", {{"Vary", "b, *"}}) == "none");
  CHECK(united("", {{"Vary", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"}}) ==
        "1,10,11,12,13,14,15,16,2,3,4,5,6,7,8,9");
  CHECK(united("", {{"Vary", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"}}) == "none");
  CHECK(united("", {{"Vary", std::string(1024, 'x')}}) == "none");
}

TEST_CASE("the hash of a URI depends on all of it and on the key") {
  const std::uint64_t hash = uri_hash(kSipKey, "h", "/a");
  CHECK(hash == uri_hash(kSipKey, "H", "/a"));
  CHECK(hash != uri_hash(kSipKey, "i", "/a"));
  CHECK(hash != uri_hash(kSipKey, "h", "/A"));
  CHECK(hash != uri_hash({1, 2}, "h", "/a"));
  const std::string host(256, 'h');
  CHECK(uri_hash(kSipKey, host, "/") != uri_hash(kSipKey, host + "i", "/"));
  CHECK(uri_hash(kSipKey, host + "i", "/") == uri_hash(kSipKey, host + "I", "/"));
}

}  // namespace spillway::cache
