#include "traffic/route/routes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>
#include <string>

using namespace spillway;
using namespace spillway::traffic;
using http::Verb;

namespace {

config::Route route(std::string path, std::vector<std::string> methods = {},
                    std::string host = {}) {
  config::Route one;
  one.name = path + "@" + host;
  one.match = {std::move(methods), std::move(host), std::move(path)};
  return one;
}

RouteTable table(std::vector<config::Route> routes) {
  routes.push_back({.name = "default", .match = {}});
  return RouteTable(routes);
}

std::size_t get(const RouteTable& routes, std::string_view path, std::string_view host = "h") {
  return index(routes.match(Verb::get, "GET", host, path));
}

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> segments;
  while (path.size() > 1) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    segments.emplace_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return segments;
}

// The rules of precedence, segment by segment, as slow and plain as they read.
bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == "**") return true;
    if (i >= path.size()) return false;
    if (pattern[i] != "*" && pattern[i] != path[i]) return false;
  }
  return pattern.size() == path.size();
}

int weight(const std::vector<std::string>& pattern, std::size_t i) {
  if (i >= pattern.size()) return 3;
  return pattern[i] == "**" ? 0 : pattern[i] == "*" ? 1 : 3;
}

bool better(const config::Route& a, const config::Route& b) {
  const auto left = split(a.match.path);
  const auto right = split(b.match.path);
  for (std::size_t i = 0; i <= std::max(left.size(), right.size()); ++i) {
    if (weight(left, i) != weight(right, i)) return weight(left, i) > weight(right, i);
  }
  if (a.match.host.empty() != b.match.host.empty()) return b.match.host.empty();
  return !a.match.methods.empty() && b.match.methods.empty();
}

std::size_t slow_match(const std::vector<config::Route>& routes, const std::string& method,
                       const std::string& host, const std::string& path) {
  const auto segments = split(path);
  std::size_t best = routes.size() - 1;
  for (std::size_t i = 0; i + 1 < routes.size(); ++i) {
    const config::Match& match = routes[i].match;
    const bool method_fits =
        match.methods.empty() ||
        std::find(match.methods.begin(), match.methods.end(), method) != match.methods.end();
    if (!method_fits || (!match.host.empty() && match.host != host)) continue;
    if (!fits(split(match.path), segments)) continue;
    if (best + 1 == routes.size() || better(routes[i], routes[best])) best = i;
  }
  return best;
}

}  // namespace

TEST_CASE("an internal route takes no request, whatever its match says") {
  config::Route internal = route("/**");
  internal.internal = true;
  const RouteTable routes = table({internal, route("/a"), route("/**")});
  CHECK(get(routes, "/a") == 1);
  CHECK(get(routes, "/b") == 2);
  CHECK(get(table({internal}), "/b") == 1);  // the default route
}

TEST_CASE("the most specific path wins segment by segment") {
  const RouteTable routes =
      table({route("/**"), route("/a/**"), route("/a/*"), route("/a/b"), route("/a/b/**"),
             route("/*/c"), route("/a/*/c"), route("/x/y/**"), route("/*/y/z"), route("/")});
  struct Case {
    std::string_view path;
    std::size_t route;
  };
  const Case cases[] = {
      {"/", 9},      {"/q", 0},     {"/a", 1},       {"/a/z", 2},     {"/a/b", 3},     {"/a/c", 2},
      {"/a/b/c", 4}, {"/a/z/c", 6}, {"/a/z/d", 1},   {"/q/c", 5},     {"/q/d", 0},     {"/x/y", 7},
      {"/x/y/z", 7}, {"/q/y/z", 8}, {"/x/y/z/w", 7}, {"/q/y/z/w", 0}, {"/a/b/c/d", 4},
  };
  for (const Case& one : cases) {
    CAPTURE(one.path);
    CHECK(get(routes, one.path) == one.route);
  }
}

TEST_CASE("a more specific path whose method or host does not fit leaves the request to others") {
  const RouteTable routes = table({route("/a/b", {"POST"}), route("/a/*", {}, "other"),
                                   route("/*/b", {"GET", "HEAD"}), route("/a/b", {"PURGE"})});
  CHECK(get(routes, "/a/b") == 2);
  CHECK(index(routes.match(Verb::post, "POST", "h", "/a/b")) == 0);
  CHECK(index(routes.match(Verb::put, "PUT", "h", "/a/b")) == 4);
  CHECK(get(routes, "/a/b", "other") == 1);
  CHECK(index(routes.match(Verb::purge, "PURGE", "h", "/a/b")) == 3);
}

TEST_CASE("on the same path a host comes before methods and methods before any") {
  const RouteTable routes = table({route("/a"), route("/a", {"GET"}), route("/a", {}, "one"),
                                   route("/a", {"GET"}, "two"), route("/a", {"GET", "PUT"})});
  CHECK(get(routes, "/a") == 1);
  CHECK(index(routes.match(Verb::put, "PUT", "h", "/a")) == 4);
  CHECK(index(routes.match(Verb::post, "POST", "h", "/a")) == 0);
  CHECK(get(routes, "/a", "one") == 2);
  CHECK(get(routes, "/a", "two") == 3);
}

TEST_CASE("hosts are compared without case and port and final dot") {
  const RouteTable routes = table({route("/a", {}, "Shop.Example"), route("/a", {}, "[::1]")});
  for (const char* host :
       {"shop.example", "SHOP.example:8080", "shop.example.", "shop.example.:1"}) {
    CAPTURE(host);
    CHECK(get(routes, "/a", host) == 0);
  }
  CHECK(get(routes, "/a", "[::1]:80") == 1);
  CHECK(get(routes, "/a", "shop.example.org") == 2);
  CHECK(get(routes, "/a", "") == 2);
  CHECK(get(routes, "/a", std::string(300, 'x')) == 2);
}

TEST_CASE("an unregistered method can have a route of its own") {
  const RouteTable routes = table({route("/a", {"BREW"}), route("/b")});
  CHECK(index(routes.match(Verb::unknown, "BREW", "h", "/a")) == 0);
  CHECK(index(routes.match(Verb::unknown, "WHEN", "h", "/a")) == 2);
  CHECK(index(routes.match(Verb::unknown, "WHEN", "h", "/b")) == 1);
}

TEST_CASE("a pattern's literals are read like a path's") {
  const RouteTable routes = table({route("/a%20b"), route("/c/"), route("/%2A"), route("/d%2fe")});
  CHECK(get(routes, "/a b") == 0);
  CHECK(get(routes, "/c") == 1);
  CHECK(get(routes, "/*") == 2);
  CHECK(get(routes, "/x") == 4);
  CHECK(get(routes, "/d%2Fe") == 3);
}

TEST_CASE("only the default route takes everything") {
  const RouteTable routes = table({});
  CHECK(get(routes, "/a") == 0);
  CHECK(get(table({route("/**")}), "/a/b/c") == 0);
  CHECK_THROWS_AS(RouteTable({}), std::invalid_argument);
}

TEST_CASE("malformed patterns and equal matches are refused") {
  for (const char* path : {"", "a", "/a//b", "/a/**/b", "/a*", "/a/***", "/./a", "/a/..", "/a?b"}) {
    CAPTURE(path);
    CHECK_THROWS_AS(table({route(path)}), std::invalid_argument);
  }
  CHECK_THROWS_AS(table({route("/" + std::string(130, '*'))}), std::invalid_argument);
  CHECK_THROWS_WITH(table({route("/a", {"GET", "PUT"}, "H"), route("/a/", {"PUT", "GET"}, "h")}),
                    "routes \"/a@H\" and \"/a/@h\" have the same match");
  CHECK_NOTHROW(table({route("/a", {"GET"}), route("/a", {"GET", "PUT"})}));
}

TEST_CASE("the walk's width is bounded by the arrangements of stars and refused beyond 64") {
  std::vector<config::Route> all;
  for (int shape = 0; shape < 64; ++shape) {
    std::string path;
    for (int bit = 0; bit < 6; ++bit) path += shape >> bit & 1 ? "/*" : "/a";
    all.push_back(route(path));
  }
  const RouteTable routes = table(all);
  CHECK(get(routes, "/a/a/a/a/a/a") == 0);
  CHECK(get(routes, "/b/a/a/a/a/b") == 33);
  all.push_back(route("/a/a/a/a/a/b", {}, "host"));
  CHECK_THROWS_AS(table(all), std::invalid_argument);
}

TEST_CASE("ten thousand routes agree with a slow and plain matcher on random requests") {
  std::mt19937 random(11);
  const auto pick = [&](std::initializer_list<const char*> from) {
    return std::string(from.begin()[random() % from.size()]);
  };
  const auto literal = [&](unsigned depth) {
    return depth == 0 ? "s" + std::to_string(random() % 40)
                      : pick({"a", "b", "c", "d", "longer-one"});
  };
  std::vector<config::Route> routes;
  std::set<std::string> known;
  while (routes.size() < 10000) {
    std::string path;
    const unsigned depth = random() % 6;
    for (unsigned i = 0; i < depth; ++i) path += "/" + (random() % 4 == 0 ? "*" : literal(i));
    if (random() % 3 == 0) path += "/**";
    if (path.empty()) path = "/";
    std::vector<std::string> methods;
    if (random() % 2) methods.push_back(pick({"GET", "POST", "BREW"}));
    const std::string host = pick({"", "", "one.example", "two.example"});
    if (!known.insert(path + host + (methods.empty() ? "" : methods[0])).second) continue;
    routes.push_back(route(path, methods, host));
  }
  routes.push_back({.name = "default", .match = {}});
  const RouteTable fast(routes);
  for (int i = 0; i < 300; ++i) {
    std::string path;
    for (unsigned depth = 0, end = random() % 7; depth < end; ++depth) path += "/" + literal(depth);
    if (path.empty()) path = "/";
    const std::string method = pick({"GET", "POST", "PUT", "BREW"});
    const std::string host = pick({"one.example", "two.example", "three.example"});
    CAPTURE(path);
    CAPTURE(method);
    CAPTURE(host);
    const Verb verb = boost::beast::http::string_to_verb(method);
    CHECK(index(fast.match(verb, method, host, path)) == slow_match(routes, method, host, path));
  }
}
