#include "cache/rules/serving.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

namespace spillway::cache {
namespace {

using enum Serving;
using std::chrono::seconds;

http::CacheControl with(void (*directive)(http::CacheControl&)) {
  http::CacheControl request;
  request.present = true;
  directive(request);
  return request;
}

const http::CacheControl kNone;
const http::CacheControl kNoCache = with([](auto& c) { c.no_cache = true; });
const http::CacheControl kMaxAge = with([](auto& c) { c.max_age = seconds(0); });
const http::CacheControl kMinFresh = with([](auto& c) { c.min_fresh = seconds(5); });
const http::CacheControl kMaxStale = with([](auto& c) { c.max_stale = seconds(5); });
const http::CacheControl kNoStore = with([](auto& c) { c.no_store = true; });
const http::CacheControl kOnlyIfCached = with([](auto& c) { c.only_if_cached = true; });
const http::CacheControl kOnlyIfCachedNoCache =
    with([](auto& c) { c.only_if_cached = c.no_cache = true; });

// What is known of what is stored, if anything is.
struct Stored {
  std::string_view name;
  bool is_fresh_enough, may_serve_stale, allows_stale_while_revalidate;
};
constexpr Stored kNothing{"nothing", false, false, false};
constexpr Stored kFresh{"fresh", true, false, false};
constexpr Stored kFreshWithWindow{"fresh with a window", true, true, true};
constexpr Stored kStale{"stale", false, false, false};
constexpr Stored kStaleInWindow{"stale within its window", false, true, true};
constexpr Stored kStaleOutside{"stale outside its window", false, false, true};
constexpr Stored kStaleIfError{"stale, for errors only", false, true, false};

}  // namespace

TEST_CASE("a request is answered from the cache as its directives and what is stored allow") {
  struct Case {
    std::string_view name;
    const http::CacheControl& request;
    bool serves_fresh;
    Serving nothing, fresh, fresh_with_window, stale, in_window, outside, if_error;
  };
  constexpr Serving kSwr = stale_while_revalidate;
  const std::vector<Case> cases{
      {"no directive", kNone, true, fetch, fresh, fresh, fetch, kSwr, fetch, fetch},
      // A client that says how new a response must be gets none that is older.
      {"no-cache", kNoCache, true, fetch, fresh, fresh, fetch, fetch, fetch, fetch},
      {"max-age", kMaxAge, true, fetch, fresh, fresh, fetch, fetch, fetch, fetch},
      {"min-fresh", kMinFresh, true, fetch, fresh, fresh, fetch, fetch, fetch, fetch},
      {"max-stale", kMaxStale, true, fetch, fresh, fresh, fetch, kSwr, fetch, fetch},
      {"no-store", kNoStore, true, fetch, fresh, fresh, fetch, kSwr, fetch, fetch},
      {"only-if-cached", kOnlyIfCached, true, fetch, fresh, fresh, fetch, kSwr, fetch, fetch},
      // A route whose cache is for overload only.
      {"no directive, overload only", kNone, false, bypass, bypass, bypass, bypass, bypass, bypass,
       bypass},
      {"no-cache, overload only", kNoCache, false, bypass, bypass, bypass, bypass, bypass, bypass,
       bypass},
      {"max-stale, overload only", kMaxStale, false, bypass, bypass, bypass, bypass, bypass, bypass,
       bypass},
      // It is told what is there all the same.
      {"only-if-cached, overload only", kOnlyIfCached, false, fetch, fresh, fresh, fetch, kSwr,
       fetch, fetch},
      {"only-if-cached and no-cache, overload only", kOnlyIfCachedNoCache, false, fetch, fresh,
       fresh, fetch, fetch, fetch, fetch},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto check = [&](const Stored& stored, Serving expected) {
      CAPTURE(stored.name);
      const ServingFacts facts{
          .serves_fresh = c.serves_fresh,
          .is_fresh_enough = stored.is_fresh_enough,
          .may_serve_stale = stored.may_serve_stale,
          .allows_stale_while_revalidate = stored.allows_stale_while_revalidate};
      CHECK(serving(c.request, facts) == expected);
    };
    check(kNothing, c.nothing);
    check(kFresh, c.fresh);
    check(kFreshWithWindow, c.fresh_with_window);
    check(kStale, c.stale);
    check(kStaleInWindow, c.in_window);
    check(kStaleOutside, c.outside);
    check(kStaleIfError, c.if_error);
  }
}

TEST_CASE("a stale response is served only where both sides allow it") {
  int stale = 0;
  for (unsigned bits = 0; bits < 512; ++bits) {
    http::CacheControl request;
    request.no_cache = bits & 1;
    if (bits & 2) request.max_age = seconds(10);
    if (bits & 4) request.min_fresh = seconds(10);
    request.only_if_cached = bits & 8;
    if (bits & 16) request.max_stale = seconds(10);
    const ServingFacts facts{.serves_fresh = (bits & 32) != 0,
                             .is_fresh_enough = (bits & 64) != 0,
                             .may_serve_stale = (bits & 128) != 0,
                             .allows_stale_while_revalidate = (bits & 256) != 0};
    const Serving decided = serving(request, facts);
    REQUIRE((decided == bypass) == !looks_up(request, facts.serves_fresh));
    if (decided == fresh) REQUIRE(facts.is_fresh_enough);
    if (decided != stale_while_revalidate) continue;
    ++stale;
    REQUIRE(facts.may_serve_stale);
    REQUIRE(facts.allows_stale_while_revalidate);
    REQUIRE_FALSE(facts.is_fresh_enough);
    REQUIRE_FALSE(request.no_cache);
    REQUIRE_FALSE(request.max_age.has_value());
    REQUIRE_FALSE(request.min_fresh.has_value());
  }
  // The control: it is served in all that is left, which is max-stale and the routes that look.
  CHECK(stale == 2 * 3);
}

}  // namespace spillway::cache
