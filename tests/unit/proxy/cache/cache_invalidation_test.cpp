// What an unsafe request takes out of the caches, of all routes.
#include "proxy/cache/cache_invalidation.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "http/message/response_reader.hpp"
#include "unit/cache/rules/asking.hpp"
#include "unit/proxy/request/lone_request.hpp"

namespace spillway::proxy {
namespace {

// Two routes with a cache of their own, and one without.
config::Config three_routes() {
  nlohmann::json all = settings({{"strategy", "allow"}});
  const nlohmann::json app = all["routes"][0];
  nlohmann::json other = app, uncached = app;
  other["name"] = "apart";
  other["match"]["path"] = "/other/**";
  uncached["name"] = "uncached";
  uncached["match"]["path"] = "/uncached/**";
  uncached.erase("cache");
  all["routes"] = {other, uncached, app};
  return support::checked(all);
}

const std::vector<std::string> kStored{"/a", "/a?x=1", "/b", "/other/a"};

cache::ResponseCache& cache_of(Process& process, std::string_view path) {
  const auto& classifier = process.generation->generation().classifier;
  return *process.generation->cache(classifier.route_of(http::Verb::get, "GET", "h", path).route);
}

std::string left_after(std::string_view request_line, std::string response_fields,
                       std::string_view status = "200 OK", std::string_view host = "h") {
  Process process(three_routes());
  for (const std::string& path : kStored) {
    cache::Request asked(path);
    asked.authority = "h";
    REQUIRE(cache::store(cache_of(process, path), asked, cache::Response("stored"),
                         Clock::now() - std::chrono::seconds(1)));
  }
  const std::string text =
      "HTTP/1.1 " + std::string(status) + "\r\n" + response_fields + "Content-Length: 0\r\n\r\n";
  const LoneRequest request(process, std::string(request_line) + " HTTP/1.1\r\nHost: " +
                                         std::string(host) + "\r\nContent-Length: 0\r\n\r\n");
  http::ResponseReader reader({.head_bytes = 65536}, request.head.method, {});
  http::ResponseHead response;
  REQUIRE(reader.read(text, response) == http::ResponseReader::Event::final);
  invalidate_changed(request.context, response);
  std::string left;
  for (const std::string& path : kStored) {
    cache::Request asked(path);
    asked.authority = "h";
    if (cache::content(cache_of(process, path), asked, Clock::now()) != "-")
      left += (left.empty() ? "" : " ") + path;
  }
  return left;
}

}  // namespace

TEST_CASE("an unsafe request that succeeds invalidates what is stored for its URI") {
  struct Case {
    std::string_view what, line, status;
    std::string left;
  };
  const std::string all = "/a /a?x=1 /b /other/a";
  const std::vector<Case> cases{
      {"POST", "POST /a", "200 OK", "/a?x=1 /b /other/a"},
      {"PUT that creates", "PUT /a", "201 Created", "/a?x=1 /b /other/a"},
      {"a method that is not known", "PURGE /a", "204 No Content", "/a?x=1 /b /other/a"},
      {"POST that leads elsewhere", "POST /a", "303 See Other", "/a?x=1 /b /other/a"},
      {"a query is part of the URI", "POST /a?x=1", "200 OK", "/a /b /other/a"},
      {"of another route", "DELETE /other/a", "200 OK", "/a /a?x=1 /b"},
      {"of a route without a cache", "POST /uncached/a", "200 OK", all},
      {"GET", "GET /a", "200 OK", all},
      {"OPTIONS", "OPTIONS /a", "200 OK", all},
      {"POST that fails", "POST /a", "500 No", all},
      {"POST that is refused", "POST /a", "409 Conflict", all},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CHECK(left_after(c.line, "", c.status) == c.left);
  }
  CHECK(left_after("POST /a", "", "200 OK", "another") == all);
}

TEST_CASE("what the response says has changed is invalidated too, at the same authority only") {
  struct Case {
    std::string_view what;
    std::string fields, left;
  };
  const std::vector<Case> cases{
      {"by Location", "Location: /b\r\n", "/a?x=1 /other/a"},
      {"by Content-Location", "Content-Location: /b\r\n", "/a?x=1 /other/a"},
      {"by both, one in another route's cache", "Location: /other/a\r\nContent-Location: /b\r\n",
       "/a?x=1"},
      {"as a whole URI", "Location: http://h/b\r\n", "/a?x=1 /other/a"},
      {"a fragment is no part of it", "Location: /b#part\r\n", "/a?x=1 /other/a"},
      {"of another authority", "Location: http://evil.example/b\r\n", "/a?x=1 /b /other/a"},
      {"where there is no cache", "Location: /uncached/b\r\n", "/a?x=1 /b /other/a"},
      {"its own once more", "Location: /a\r\n", "/a?x=1 /b /other/a"},
      {"nothing that is a URI", "Location: \r\n", "/a?x=1 /b /other/a"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CHECK(left_after("POST /a", c.fields) == c.left);
  }
}

}  // namespace spillway::proxy
