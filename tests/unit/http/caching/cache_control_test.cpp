#include "http/caching/cache_control.hpp"

#include <doctest/doctest.h>

#include <boost/beast/http/field.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "base/random.hpp"

using namespace spillway::http;
using std::chrono::seconds;

namespace {

CacheControl read(std::initializer_list<std::string_view> lines) {
  FieldList fields;
  for (const std::string_view line : lines) {
    fields.push({"Cache-Control", line, FieldId::cache_control});
  }
  return cache_control(fields);
}

CacheControl read(std::string_view line) { return read({line}); }

FieldList fields_of(std::initializer_list<std::pair<std::string_view, std::string_view>> list) {
  FieldList fields;
  for (const auto& [name, value] : list) {
    fields.push({name, value, boost::beast::http::string_to_field(name)});
  }
  return fields;
}

std::string show(const std::optional<seconds>& value) {
  return value ? std::to_string(value->count()) : "-";
}

}  // namespace

TEST_CASE("without Cache-Control nothing is said") {
  const CacheControl none = cache_control(fields_of({{"Pragma", "no-cache"}, {"Expires", "0"}}));
  CHECK_FALSE(none.present);
  CHECK_FALSE(none.no_cache);
  CHECK_FALSE(none.max_age);
}

TEST_CASE("each directive is known in any case and on any line") {
  // RFC 9111 section 5.2, RFC 5861, RFC 8246
  const CacheControl all =
      read({"No-Cache, NO-STORE,no-transform , only-if-cached", "max-stale=1, min-fresh=2",
            "Max-Age=3", "public, private, must-revalidate, proxy-revalidate, must-understand",
            "immutable,s-maxage=4,stale-while-revalidate=5,stale-if-error=6"});
  CHECK(all.present);
  CHECK(all.no_cache);
  CHECK(all.no_store);
  CHECK(all.no_transform);
  CHECK(all.only_if_cached);
  CHECK(all.is_public);
  CHECK(all.is_private);
  CHECK(all.must_revalidate);
  CHECK(all.proxy_revalidate);
  CHECK(all.must_understand);
  CHECK(all.immutable);
  CHECK(show(all.max_stale) == "1");
  CHECK(show(all.min_fresh) == "2");
  CHECK(show(all.max_age) == "3");
  CHECK(show(all.s_maxage) == "4");
  CHECK(show(all.stale_while_revalidate) == "5");
  CHECK(show(all.stale_if_error) == "6");
}

TEST_CASE("a number that cannot be read is the strictest and a large one saturates") {
  // RFC 9111 sections 1.2.2 and 4.2.1
  struct Case {
    std::string_view line;
    std::string max_age;
  };
  const Case cases[] = {
      {"max-age=60", "60"},
      {"max-age=0", "0"},
      {"max-age=0060", "60"},
      {"max-age=\"60\"", "60"},
      {"max-age=2147483647", "2147483647"},
      {"max-age=2147483648", "2147483648"},
      {"max-age=2147483649", "2147483648"},
      {"max-age=99999999999999999999999999999999", "2147483648"},
      {"max-age", "0"},
      {"max-age=", "0"},
      {"max-age=\"\"", "0"},
      {"max-age=-1", "0"},
      {"max-age=+1", "0"},
      {"max-age=60.0", "0"},
      {"max-age=60a", "0"},
      {"max-age=a60", "0"},
      {"max-age='60'", "0"},
      {"max-age= 60", "0"},
      {"max-age =60", "0"},
      {"max-age\t=60", "0"},
      {"max-age=60;x", "0"},
      {"max-age=60 x", "0"},
      {"max-age=\"60", "0"},
      {"max-age=\"6\\0\"", "0"},
      {"max-ages=60", "-"},
      {"x-max-age=60", "-"},
      {"x=\"max-age=60\"", "-"},
      {"x=\"\\\", max-age=60\"", "-"},
      {"", "-"},
      {", ,", "-"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.line);
    const CacheControl control = read(one.line);
    // What has no end is not read at all: see below.
    CHECK(show(control.max_age) == (one.line == "max-age=\"60" ? "-" : one.max_age));
    CHECK(control.present);
  }
}

TEST_CASE("of repeated numbers the one counts that allows less") {
  CHECK(show(read("max-age=1800, max-age=1").max_age) == "1");
  CHECK(show(read({"max-age=1", "max-age=1800"}).max_age) == "1");
  CHECK(show(read("max-age=1800, max-age=x").max_age) == "0");
  CHECK(show(read("s-maxage=7, s-maxage=9").s_maxage) == "7");
  CHECK(show(read("stale-if-error=7, stale-if-error=9").stale_if_error) == "7");
  CHECK(show(read("min-fresh=7, min-fresh=9").min_fresh) == "9");
  CHECK(show(read("min-fresh=7, min-fresh=x").min_fresh) == "2147483648");
  CHECK(show(read("max-stale, max-stale=9").max_stale) == "9");
  CHECK(show(read("max-stale").max_stale) == "2147483648");
  CHECK(show(read("max-stale=x").max_stale) == "0");
  CHECK(show(read("max-stale=").max_stale) == "0");
}

TEST_CASE("directives in a quoted string do not count and a list of fields does not weaken one") {
  const CacheControl control = read(
      "no-cache=\"Set-Cookie, max-age=1\", private=\"X-One\", ext=\"a\\\"b, no-store\", public");
  CHECK(control.no_cache);
  CHECK(control.is_private);
  CHECK(control.is_public);
  CHECK_FALSE(control.no_store);
  CHECK_FALSE(control.max_age);
}

TEST_CASE("a quoted string without end forbids everything") {
  for (const std::string_view line : {"ext=\"a, max-age=60", "max-age=60, ext=\"", "\"",
                                      "max-age=60, ext=\"a\\\"", "must-understand, \"\\"}) {
    CAPTURE(line);
    CHECK(read(line).no_store);
    CHECK(read(line).is_private);
    CHECK(read({"max-age=5", line}).no_store);
  }
}

TEST_CASE("no text before it hides a no-store") {
  constexpr std::string_view kAlphabet = "\",\\=; \ta0";
  spillway::Random random(9111);
  for (int n = 0; n < 20000; ++n) {
    std::string line;
    for (auto size = random.next() % 12; size > 0; --size) {
      line += kAlphabet[random.next() % kAlphabet.size()];
    }
    line += ", no-store";
    CAPTURE(line);
    CHECK(read(line).no_store);
  }
}

TEST_CASE("Pragma counts in requests without Cache-Control") {
  // RFC 9111 section 5.4
  CHECK(pragma_no_cache(fields_of({{"Pragma", "no-cache"}})));
  CHECK(pragma_no_cache(fields_of({{"pragma", "x, NO-CACHE"}})));
  CHECK(pragma_no_cache(fields_of({{"Pragma", "x"}, {"Pragma", "no-cache"}})));
  CHECK_FALSE(pragma_no_cache(fields_of({{"Pragma", "no-cache-please"}})));
  CHECK_FALSE(pragma_no_cache(fields_of({{"X-Pragma", "no-cache"}})));

  CHECK(request_cache_control(fields_of({{"Pragma", "no-cache"}})).no_cache);
  CHECK_FALSE(
      request_cache_control(fields_of({{"Pragma", "no-cache"}, {"Cache-Control", ""}})).no_cache);
  CHECK_FALSE(
      request_cache_control(fields_of({{"Pragma", "no-cache"}, {"Cache-Control", "max-age=5"}}))
          .no_cache);
  CHECK(request_cache_control(fields_of({{"Cache-Control", "no-cache"}})).no_cache);
  CHECK_FALSE(request_cache_control(fields_of({{"Accept", "*/*"}})).no_cache);
}
