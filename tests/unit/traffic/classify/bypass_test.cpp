// Visitors that never wait in a waiting room. No spelling of a path adds one.
#include "traffic/classify/bypass.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/random.hpp"
#include "fuzz/path_backends.hpp"
#include "fuzz/path_reference.hpp"

using namespace spillway;
using namespace spillway::traffic;

namespace {

const std::vector<std::string> kPaths{"/sale/health", "/sale/assets/**", "/sale/*/logo"};

WaitingBypass of_paths() { return WaitingBypass({.clients = {}, .paths = kPaths, .tiers = {}}); }

IpAddress address(const char* text) { return *parse_ip_address(text); }

// The routes of the same patterns, and the waiting room around them.
std::vector<config::Route> as_routes() {
  std::vector<config::Route> routes;
  for (const std::string& path : kPaths) routes.push_back({.name = path, .match = {.path = path}});
  routes.push_back({.name = "sale", .match = {.path = "/sale/**"}});
  routes.push_back({.name = "default"});
  return routes;
}

std::string random_path(Random& random) {
  static const std::vector<std::string> kParts{
      "/",    "/",      "/",   "//",   "a",       "b",   "health", "assets",  "sale",    "logo",
      "..",   "/..",    "/.",  "%2e",  "%2f",     "%5c", "\\",     ";",       ";x=1",    "%3b",
      "%00",  "%3f",    "%23", "%252", "%252e",   "%61", "%20",    "%%32",    "%25",     "..;",
      "/../", "/..%2f", "/;/", "%",    "page/..", "%68", "..%5c",  "%2e%2e/", "%252f..", ".."};
  std::string path = random.next() % 8 == 0 ? "/" : "/sale/assets/";
  for (std::uint64_t left = 1 + random.next() % 6; left > 0; --left)
    path += kParts[random.next() % kParts.size()];
  return path;
}

}  // namespace

TEST_CASE("a path bypasses by the patterns of routes") {
  const WaitingBypass bypass = of_paths();
  for (const char* path : {"/sale/health", "/sale/health?x=/../y", "/sale/health/", "/sale/assets",
                           "/sale/assets/a.css", "/sale/assets/a/b.png", "/sale/assets/a%20b.png",
                           "/sale/assets/%C3%A9.png", "/sale/x/logo"}) {
    CAPTURE(path);
    CHECK(bypass.has_path(path));
  }
  for (const char* path : {"/", "/sale", "/sale/health/x", "/sale/healthy", "/sale/page",
                           "/sale/assetsx", "/Sale/health", "/sale/logo", "/sale/x/y/logo"}) {
    CAPTURE(path);
    CHECK_FALSE(bypass.has_path(path));
  }
  CHECK_FALSE(WaitingBypass(config::WaitingBypass{}).has_path("/sale/health"));
  CHECK(WaitingBypass(config::WaitingBypass{}).is_empty());
  CHECK(WaitingBypass({.clients = {}, .paths = {"/"}, .tiers = {}}).has_path("/"));
}

TEST_CASE("a spelling that some backend reads otherwise does not bypass") {
  const WaitingBypass bypass = of_paths();
  for (const char* path : {"/sale/assets/../page",
                           "/sale/assets/%2e%2e/page",
                           "/sale/assets/.%2e/page",
                           "/sale/assets/..%2fpage",
                           "/sale/assets%2f../page",
                           "/sale/assets/..;/page",
                           "/sale/assets/..;a=b/page",
                           "/sale/assets;/../page",
                           "/sale/assets\\..\\page",
                           "/sale/assets/..\\page",
                           "/sale/assets/..%5cpage",
                           "/sale/assets/x/..//../page",
                           "/sale/assets/%2e%2e%2fpage",
                           "/sale/assets/%252e%252e/page",
                           "/sale/assets/..%252fpage",
                           "/sale/assets/%%32e%%32e/page",
                           "/sale/assets/..%3b/page",
                           "/sale/assets/%3b/../../page",
                           "/sale/page%00/../assets/x",
                           "/sale/page%3f/../assets/x",
                           "/sale/page%23/../assets/x",
                           "/sale/page/../health",
                           "/sale/page/..;/health",
                           "/sale/page/..%2fhealth",
                           "//sale/assets/x",
                           "//h/sale/assets/x",
                           "/\\h/sale/assets/x",
                           "/sale//assets/x",
                           "/./sale/assets/x",
                           "/sale/%61ssets/x",
                           "/sale/%68ealth",
                           "/sale/health%00",
                           "/sale/health;x",
                           "/sale/health%3f",
                           "/sale/health%2f",
                           "/sale/assets/%c0%ae%c0%ae/page",
                           "/sale/assets/%25c0%25ae%25c0%25ae/page",
                           "/sale/page%00/logo",
                           "/sale/page%3f/logo"}) {
    CAPTURE(path);
    CHECK_FALSE(bypass.has_path(path));
  }
  std::string long_one = "/sale/assets";
  while (long_one.size() < 3000) long_one += "/..;%2f%5c\\a";
  CHECK_FALSE(bypass.has_path(long_one));
}

TEST_CASE("what bypasses by its path does so for every backend") {
  const WaitingBypass bypass = of_paths();
  const fuzz::RouteReference reference(as_routes());
  Random random(3);
  std::size_t bypassed = 0, misled = 0;
  for (int round = 0; round < 30'000; ++round) {
    const std::string path = random_path(random);
    const bool goes_by = bypass.has_path(path);
    bypassed += goes_by;
    const bool is_naive = reference.route_of("GET", "h", fuzz::first_reading(path)) < kPaths.size();
    for (const fuzz::PathBackend& backend : fuzz::path_backends()) {
      const bool is_outside =
          reference.route_of("GET", "h", fuzz::path_at(backend, path)) >= kPaths.size();
      misled += is_naive && is_outside;
      if (!goes_by || !is_outside) continue;
      CAPTURE(path);
      CAPTURE(backend.name);
      CHECK_FALSE(is_outside);
    }
  }
  CHECK(bypassed > 500);
  CHECK(misled > 1000);  // one reading alone would not do: the claim can fail
}

TEST_CASE("clients bypass by their block, tiers by their name") {
  const WaitingBypass bypass(
      {.clients = {"10.0.0.0/8", "2001:db8::/32"}, .paths = {}, .tiers = {"staff"}});
  CHECK(bypass.has_client(address("10.255.0.1")));
  CHECK(bypass.has_client(address("2001:db8::1")));
  CHECK_FALSE(bypass.has_client(address("11.0.0.1")));
  CHECK(bypass.has_tier("staff"));
  CHECK_FALSE(bypass.has_tier("Staff"));
  CHECK_FALSE(bypass.has_tier("vip"));
  CHECK_FALSE(bypass.has_tier(""));
  CHECK_FALSE(bypass.has_path("/staff"));
}
