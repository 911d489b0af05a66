#include "cache/rules/fetch.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

namespace spillway::cache {
namespace {

constexpr FetchFacts kGetFacts{.is_get = true};

}  // namespace

TEST_CASE("a request asks for the store and for others as far as its response may serve them") {
  using enum Fetch;
  struct Case {
    std::string_view what;
    void (*asks)(http::CacheControl&);
    FetchFacts facts;
    Fetch expected;
  };
  const auto nothing = [](http::CacheControl&) {};
  const auto no_store = [](http::CacheControl& its) { its.no_store = true; };
  const auto no_cache = [](http::CacheControl& its) { its.no_cache = true; };
  const auto max_age_0 = [](http::CacheControl& its) { its.max_age = std::chrono::seconds(0); };
  const auto max_age_1 = [](http::CacheControl& its) { its.max_age = std::chrono::seconds(1); };
  const std::vector<Case> cases{
      {"GET", nothing, kGetFacts, shared},
      {"HEAD", nothing, {}, plain},
      {"a range", nothing, {.is_get = true, .wants_part = true}, plain},
      {"no-store", no_store, kGetFacts, plain},
      {"no-store under overload", no_store, {.is_get = true, .accepts_stale = true}, plain},
      {"not storable last time", nothing, {.is_get = true, .was_unstorable = true}, to_store},
      {"not storable last time, under overload",
       nothing,
       {.is_get = true, .was_unstorable = true, .accepts_stale = true},
       to_store},
      {"no-cache", no_cache, kGetFacts, to_store},
      {"no-cache under overload", no_cache, {.is_get = true, .accepts_stale = true}, shared},
      {"max-age=0", max_age_0, kGetFacts, to_store},
      {"max-age=0 under overload", max_age_0, {.is_get = true, .accepts_stale = true}, shared},
      {"max-age=1", max_age_1, kGetFacts, shared},
      {"HEAD under overload", nothing, {.accepts_stale = true}, plain},
  };
  for (const Case& one : cases) {
    CAPTURE(one.what);
    http::CacheControl request{.present = true};
    one.asks(request);
    CHECK(fetch_for(request, one.facts) == one.expected);
  }
}

}  // namespace spillway::cache
