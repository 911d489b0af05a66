// Whether a stored response answers, by the request and by what is stored.
#include "proxy/cache/cache_lookup.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unit/cache/rules/asking.hpp"
#include "unit/proxy/request/lone_request.hpp"

namespace spillway::proxy {
namespace {

using cache::Serving;
using std::chrono::seconds;
using ForwardedFor = http::CacheStatus::Forward;
using StoredAge = std::optional<seconds>;

constexpr StoredAge kNotStored, kStoredFresh = seconds(10), kStoredStale = seconds(70),
                                kStoredTooOld = seconds(1000);

// What is stored for GET /a: fresh for a minute, to be revalidated in the background for another.
void store_for_a(Process& process, seconds age) {
  cache::Request asked("/a");
  asked.authority = "h";
  cache::Response stored(
      "stored", {{"Cache-Control", "max-age=60, stale-while-revalidate=60"}, {"ETag", "\"1\""}});
  stored.validity.stale_on_error = seconds(60);
  REQUIRE(cache::store(*process.generation->cache(RouteId{}), asked, stored, Clock::now() - age));
}

std::string head_for_a(std::string_view method, std::string_view fields) {
  return std::string(method) + " /a HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n";
}

struct LookedUp {
  LookedUp(Process& process, std::string_view method, std::string_view fields,
           bool is_trusted = false)
      : request(process, head_for_a(method, fields), is_trusted),
        lookup(process.services, request.context, key) {}

  LoneRequest request;
  cache::CacheKey key;
  CacheLookup lookup;
};

}  // namespace

TEST_CASE("a request is answered from the cache, fetches for it, or passes it by") {
  enum class Fetch { no, alone, for_others };
  struct Case {
    const char* what;
    StoredAge stored;
    std::string_view method, fields;
    Serving serving;
    ForwardedFor forward;
    Fetch fetch = Fetch::no;
    bool is_trusted = false;
  };
  const std::vector<Case> cases{
      {"nothing stored", kNotStored, "GET", "", Serving::fetch, ForwardedFor::uri_miss,
       Fetch::for_others},
      {"fresh", kStoredFresh, "GET", "", Serving::fresh, ForwardedFor::none},
      {"fresh, HEAD", kStoredFresh, "HEAD", "", Serving::fresh, ForwardedFor::none},
      {"stale", kStoredStale, "GET", "", Serving::stale_while_revalidate, ForwardedFor::none},
      {"too old", kStoredTooOld, "GET", "", Serving::fetch, ForwardedFor::stale, Fetch::for_others},
      {"HEAD fetches nothing for the store", kNotStored, "HEAD", "", Serving::fetch,
       ForwardedFor::uri_miss},
      {"an answer of the upstream is demanded", kStoredFresh, "GET", "Cache-Control: no-cache\r\n",
       Serving::fetch, ForwardedFor::request, Fetch::alone},
      {"fresh for less than is asked for", kStoredFresh, "GET", "Cache-Control: min-fresh=55\r\n",
       Serving::fetch, ForwardedFor::request, Fetch::for_others},
      {"not to be stored", kNotStored, "GET", "Cache-Control: no-store\r\n", Serving::fetch,
       ForwardedFor::uri_miss},
      {"another method", kStoredFresh, "POST", "Content-Length: 0\r\n", Serving::bypass,
       ForwardedFor::method},
      {"a part of what is stored", kStoredFresh, "GET", "Range: bytes=0-1\r\n", Serving::fresh,
       ForwardedFor::none},
      {"a part of what is not", kNotStored, "GET", "Range: bytes=0-1\r\n", Serving::fetch,
       ForwardedFor::uri_miss},
      {"a part in another unit", kStoredFresh, "GET", "Range: items=0-1\r\n", Serving::bypass,
       ForwardedFor::bypass},
      {"a condition for the origin", kStoredFresh, "GET", "If-Match: \"1\"\r\n", Serving::bypass,
       ForwardedFor::bypass},
      {"forwarding fields of a client", kStoredFresh, "GET", "Forwarded: for=1.2.3.4\r\n",
       Serving::fresh, ForwardedFor::none},
      {"of a proxy, not in the key", kStoredFresh, "GET", "Forwarded: host=x\r\n", Serving::bypass,
       ForwardedFor::bypass, Fetch::no, true},
      {"of a proxy, twice", kStoredFresh, "GET", "X-Forwarded-Host: x\r\nX-Forwarded-Host: y\r\n",
       Serving::bypass, ForwardedFor::bypass, Fetch::no, true},
  };
  for (const Case& one : cases) {
    CAPTURE(std::string(one.what));
    Process process;
    if (one.stored) store_for_a(process, *one.stored);
    LookedUp it(process, one.method, one.fields, one.is_trusted);
    CHECK(it.lookup.consult() == one.serving);
    CHECK(it.lookup.is_usable() == (one.serving != Serving::bypass));
    CHECK(it.lookup.status().forward == one.forward);
    CHECK(it.lookup.fetches_for_cache() == (one.fetch != Fetch::no));
    CHECK(it.lookup.shares_response() == (one.fetch == Fetch::for_others));
    CHECK(it.lookup.wants_refresh() == (one.serving == Serving::stale_while_revalidate));
  }
}

TEST_CASE("in place of a refusal or a failure a stored response says how it came") {
  Process process;
  store_for_a(process, kStoredStale.value());
  LookedUp refused(process, "GET", "Cache-Control: no-cache\r\n");
  refused.lookup.consult();
  REQUIRE(refused.lookup.look_up_stale());
  refused.lookup.take_for_refusal(true);
  CHECK(refused.lookup.status().hit);
  CHECK(refused.lookup.wants_refresh());

  struct Case {
    Fault fault;
    std::optional<unsigned> status;
    bool is_found, is_hit;
  };
  const std::vector<Case> cases{
      {circuit_open(seconds(1)), std::nullopt, true, true},  // the upstream was not asked
      {upstream_failed(), 503, true, false},
      {cannot_connect(true), std::nullopt, true, false},
      {denied(Reason::queue_full, seconds(1)), std::nullopt, false, false},
      {client_gone(), std::nullopt, false, false},
  };
  for (const Case& one : cases) {
    CAPTURE(std::string(name(one.fault.reason)));
    LookedUp failed(process, "GET", "Cache-Control: no-cache\r\n");
    failed.lookup.consult();
    CHECK(failed.lookup.look_up_stale_if_error(one.fault) == one.is_found);
    if (!one.is_found) continue;
    failed.lookup.take_for_error(one.fault, one.status);
    CHECK(failed.lookup.status().hit == one.is_hit);
    CHECK(failed.lookup.status().forward_status == one.status.value_or(0));
    CHECK(failed.lookup.status().ttl.value() < 0);
    CHECK_FALSE(failed.lookup.wants_refresh());
  }
}

TEST_CASE("a follower takes what the leader has stored if it fits, and says so") {
  struct Case {
    StoredAge stored;
    std::string_view fields;
    bool accepts_stale, takes;
  };
  const std::vector<Case> cases{
      {kStoredFresh, "", false, true},
      {kStoredStale, "", false, false},
      {kStoredStale, "", true, true},
      {kStoredFresh, "Cache-Control: max-age=5\r\n", false, false},
      {kStoredFresh, "Cache-Control: max-age=5\r\n", true, true},
      {kNotStored, "", true, false},
  };
  for (const Case& one : cases) {
    CAPTURE(one.fields);
    Process process;
    if (one.stored) store_for_a(process, *one.stored);
    LookedUp it(process, "GET", one.fields);
    it.lookup.consult();
    it.lookup.follow();
    if (one.accepts_stale) it.lookup.accept_stale();
    CHECK(it.lookup.try_take_shared() == one.takes);
    if (one.takes) CHECK(it.lookup.status().collapsed);
    if (one.takes) CHECK_FALSE(it.lookup.status().hit);
  }
}

TEST_CASE("the status of a problem response says whether the request was forwarded") {
  Process process;
  LookedUp it(process, "GET", "");
  it.lookup.consult();
  CHECK(it.lookup.status_for(only_if_cached()).detail == "miss");
  CHECK(it.lookup.status_for(upstream_reset()).forward == ForwardedFor::uri_miss);
  const http::CacheStatus refused = it.lookup.status_for(denied(Reason::queue_full, seconds(1)));
  CHECK(refused.has_cache);
  CHECK(refused.forward == ForwardedFor::none);
}

}  // namespace spillway::proxy
