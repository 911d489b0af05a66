// What becomes of an upstream's response in the cache, and of those that wait for it.
#include "proxy/cache/cache_fill.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message/response_reader.hpp"
#include "unit/cache/rules/asking.hpp"
#include "unit/proxy/request/lone_request.hpp"

namespace spillway::proxy {
namespace {

using cache::Landing;
using std::chrono::seconds;

constexpr std::uint64_t kMostEntryBytes = 4096;

config::Config with_cache(config::Serve serve) {
  nlohmann::json all = settings({{"strategy", "allow"}});
  nlohmann::json& cache = all["routes"][0]["cache"];
  cache["serve"] = serve == config::Serve::fresh ? "fresh" : "overload";
  cache["max_entry_bytes"] = kMostEntryBytes;
  return support::checked(all);
}

std::string ok(std::string_view fields, std::string_view status = "200 OK") {
  return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(fields) + "\r\n";
}
const std::string kKept = "Cache-Control: max-age=60\r\n";

// A request for /a that is asked upstream, with one that waits for its response if it leads a
// flight.
struct Filled {
  explicit Filled(Process& its_process, std::string_view method = "GET",
                  std::string_view fields = "")
      : process(its_process),
        request(process,
                std::string(method) + " /a HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n"),
        lookup(process.services, request.context, key),
        flight(process.services, request.context, lookup, parking),
        fill(process.services, request.context, lookup, flight) {
    lookup.consult();
    follower.mailbox = &process.services.mailbox;
    if (!lookup.shares_response()) return;
    REQUIRE(flight.try_lead());
    cache().flights().join(key.hash(), follower);
  }
  ~Filled() {
    flight.land(Landing::failed);
    process.loop.poll();  // the one that waits is told
  }

  void begin(std::string text, bool is_lesser = false, Duration took = {}) {
    response_text = std::move(text);
    http::ResponseReader reader({.head_bytes = 65536}, request.head.method, {});
    REQUIRE(reader.read(response_text, response) == http::ResponseReader::Event::final);
    fill.begin(response, Clock::now() - took, is_lesser);
  }
  // What the one that waits has been told.
  Landing landing() {
    process.loop.poll();
    return follower.landing;
  }
  cache::ResponseCache& cache() { return *process.generation->cache(RouteId{}); }

  Process& process;
  LoneRequest request;
  Parking parking;
  cache::CacheKey key;
  CacheLookup lookup;
  FlightMembership flight;
  SharedResponse follower;
  CacheFill fill;
  std::string response_text;
  http::ResponseHead response;
};

struct AskedA : cache::Request {
  AskedA() : cache::Request("/a") { authority = "h"; }
};
std::string stored_as_a(Process& process) {
  return cache::content(*process.generation->cache(RouteId{}), AskedA(), Clock::now());
}
void store_as_a(Process& process, Duration age, const cache::Lines& fields = {}) {
  cache::Response stored("stored", fields);
  REQUIRE(
      cache::store(*process.generation->cache(RouteId{}), AskedA(), stored, Clock::now() - age));
}
bool is_marked_unstorable(Process& process) {
  const cache::Found found =
      cache::look(*process.generation->cache(RouteId{}), AskedA(), Clock::now());
  return found.unstorable || found.result == cache::Lookup::unstorable;
}

}  // namespace

TEST_CASE("by its head a response is stored or not, and those that wait for it go on or wait") {
  struct Case {
    std::string_view what;
    std::string response;
    bool fills;
    Landing landing;  // none: they wait on
    bool is_marked = false;
  };
  const std::vector<Case> cases{
      {"it may be kept", ok(kKept), true, Landing::none},
      {"an empty one", ok(kKept + "Content-Length: 0\r\n"), true, Landing::none},
      {"it may not", ok("Cache-Control: no-store\r\n"), false, Landing::nothing, true},
      {"it logs a client in", ok(kKept + "Set-Cookie: a=b\r\n"), false, Landing::nothing, true},
      {"for the client alone", ok("Cache-Control: private\r\n"), false, Landing::nothing, true},
      {"longer than an entry may be", ok(kKept + "Content-Length: 5000\r\n"), false,
       Landing::nothing, true},
      {"an event stream", ok(kKept + "Content-Type: text/event-stream\r\n"), false,
       Landing::nothing, true},
      {"a phrase without end", ok(kKept, "200 " + std::string(1025, 'x')), false, Landing::nothing,
       true},
      {"a failure that says nothing of the next one", ok("", "503 No"), false, Landing::failed},
      {"a failure that may be kept", ok(kKept, "500 No"), true, Landing::none},
      {"it is not there", ok(kKept, "404 Not Found"), true, Landing::none},
      {"stale as it comes", ok("Cache-Control: max-age=60\r\nAge: 61\r\n"), true, Landing::nothing},
      {"stale, and to be asked for again each time",
       ok("Cache-Control: no-cache\r\nETag: \"1\"\r\n"), true, Landing::nothing},
      {"stale, and nothing to ask by", ok("Cache-Control: no-cache\r\n"), false, Landing::nothing,
       true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    Process process(with_cache(config::Serve::fresh));
    Filled it(process);
    REQUIRE(it.flight.leads());
    it.begin(c.response);
    CHECK(it.fill.is_filling() == c.fills);
    CHECK(it.lookup.status().stored == c.fills);
    CHECK(it.landing() == c.landing);
    CHECK(it.flight.leads() == (c.landing == Landing::none));
    CHECK(is_marked_unstorable(process) == c.is_marked);
  }
}

TEST_CASE("a response that comes in place of another one's is not stored") {
  struct Case {
    std::string_view what, method, fields;
    bool is_lesser, fills;
  };
  const std::vector<Case> cases{
      {"control", "GET", "", false, true},
      {"the upstream was asked to do less", "GET", "", true, false},
      {"only a head", "HEAD", "", false, false},
      {"a part", "GET", "Range: bytes=0-1\r\n", false, false},
      {"another method", "POST", "Content-Length: 0\r\n", false, false},
      {"a request that is not to be stored", "GET", "Cache-Control: no-store\r\n", false, false},
      {"one that wants it anew, which others may use", "GET", "Cache-Control: no-cache\r\n", false,
       true},
      {"a person's", "GET", "Authorization: Basic YTpi\r\n", false, false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    Process process(with_cache(config::Serve::fresh));
    Filled it(process, c.method, c.fields);
    it.begin(ok(kKept), c.is_lesser);
    CHECK(it.fill.is_filling() == c.fills);
  }
}

TEST_CASE("of its content all or nothing is stored") {
  struct Case {
    std::string_view what;
    std::string fields;
    std::vector<std::string> pieces;
    bool is_stored, is_marked = false;
  };
  const std::vector<Case> cases{
      {"in one piece", "Content-Length: 5\r\n", {"hello"}, true},
      {"in pieces, some of them empty", "Content-Length: 5\r\n", {"h", "", "ell", "o", ""}, true},
      {"of unknown length", "Transfer-Encoding: chunked\r\n", {"hel", "lo"}, true},
      {"without any", "Content-Length: 0\r\n", {}, true},
      {"shorter than announced", "Content-Length: 5\r\n", {"hell"}, false},
      {"longer than announced", "Content-Length: 5\r\n", {"hello", "!"}, false, true},
      {"as long as an entry may be, head included",
       "Transfer-Encoding: chunked\r\n",
       {std::string(3000, 'x'), std::string(500, 'x')},
       true},
      {"longer than an entry may be",
       "Transfer-Encoding: chunked\r\n",
       {std::string(3000, 'x'), std::string(1500, 'x'), "x"},
       false,
       true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    Process process(with_cache(config::Serve::fresh));
    Filled it(process);
    it.begin(ok(kKept + c.fields));
    REQUIRE(it.fill.is_filling());
    std::string whole;
    for (const std::string& piece : c.pieces) {
      it.fill.append(piece);
      whole += piece;
    }
    CHECK(it.fill.finish() == c.is_stored);
    CHECK_FALSE(it.fill.is_filling());
    CHECK(it.landing() == (c.is_stored ? Landing::stored : Landing::nothing));
    CHECK(stored_as_a(process) == (c.is_stored ? whole : "-"));
    CHECK(is_marked_unstorable(process) == c.is_marked);
  }
}

TEST_CASE("what is invalidated while it comes is not stored, and those that wait ask themselves") {
  Process process(with_cache(config::Serve::fresh));
  Filled it(process);
  it.begin(ok(kKept));
  it.fill.append("old");
  Filled change(process, "POST", "Content-Length: 0\r\n");
  change.begin(ok("Content-Length: 0\r\n"));
  CHECK_FALSE(it.fill.finish());
  CHECK(it.landing() == Landing::nothing);
  CHECK(stored_as_a(process) == "-");
  CHECK_FALSE(is_marked_unstorable(process));
}

TEST_CASE("without an end nothing is stored, and those that wait are told why") {
  Process process(with_cache(config::Serve::fresh));
  Filled it(process);
  it.begin(ok(kKept));
  it.fill.append("some");
  SUBCASE("the upstream failed") {
    it.flight.end(upstream_stalled());
    CHECK(it.landing() == Landing::failed);
  }
  SUBCASE("the client left: the one that waits leads") {
    it.flight.end(client_gone());
    CHECK(it.landing() == Landing::leads);
    CHECK_FALSE(it.flight.leads());
    it.cache().flights().land(it.key.hash(), Landing::nothing);
  }
  SUBCASE("another response answers, which lands") {
    it.fill.drop();
    CHECK_FALSE(it.fill.finish());
    CHECK(it.landing() == Landing::none);
  }
  CHECK(stored_as_a(process) == "-");
}

TEST_CASE("a response on its way makes room only if another one has found none") {
  Process process(with_cache(config::Serve::fresh));
  Filled it(process);
  it.begin(ok(kKept));
  it.fill.make_room(Clock::now());
  CHECK(it.fill.is_filling());
  CHECK(it.landing() == Landing::none);
}

TEST_CASE("where the cache serves only under overload a fresh response is not stored again soon") {
  struct Case {
    std::string_view what;
    Duration age;
    bool fills;
  };
  // Fresh for a minute: for a tenth of that, but for a second at most.
  const std::vector<Case> cases{{"just stored", Milliseconds(0), false},
                                {"not long ago", Milliseconds(900), false},
                                {"a second ago", Milliseconds(1100), true},
                                {"not fresh any more", seconds(61), true}};
  for (const Case& c : cases) {
    CAPTURE(c.what);
    Process process(with_cache(config::Serve::overload));
    store_as_a(process, c.age, {{"Cache-Control", "max-age=60"}});
    Filled it(process);
    CHECK_FALSE(it.lookup.looked_up());
    it.begin(ok(kKept));
    CHECK(it.fill.is_filling() == c.fills);
  }
}

TEST_CASE("a response to HEAD with other validators takes what is stored away") {
  struct Case {
    std::string_view what;
    std::string fields;  // of the request
    std::string response;
    bool is_kept;
    bool is_lesser = false;
  };
  const std::vector<Case> cases{
      {"the same", "", ok("ETag: \"1\"\r\nLast-Modified: Sun, 29 Nov 2026 12:00:00 GMT\r\n"), true},
      {"the same, but weak", "", ok("ETag: W/\"1\"\r\n"), true},
      {"none", "", ok(""), true},
      {"another length says nothing", "", ok("ETag: \"1\"\r\nContent-Length: 99\r\n"), true},
      {"another tag", "", ok("ETag: \"2\"\r\n"), false},
      {"another time", "", ok("Last-Modified: Sun, 29 Nov 2026 12:00:01 GMT\r\n"), false},
      {"it is not there any more", "", ok("ETag: \"2\"\r\n", "404 Not Found"), true},
      {"a person's", "Authorization: Basic YTpi\r\n", ok("ETag: \"2\"\r\n"), true},
      {"a person's by its cookie", "Cookie: a=b\r\n", ok("ETag: \"2\"\r\n"), true},
      {"a lesser one", "", ok("ETag: \"2\"\r\n"), true, true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    Process process(with_cache(config::Serve::fresh));
    store_as_a(process, seconds(130),
               {{"ETag", "\"1\""}, {"Last-Modified", "Sun, 29 Nov 2026 12:00:00 GMT"}});
    Filled it(process, "HEAD", c.fields);
    it.begin(c.response, c.is_lesser);
    CHECK((stored_as_a(process) != "-") == c.is_kept);
  }
}

}  // namespace spillway::proxy
