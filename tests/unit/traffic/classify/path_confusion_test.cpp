// No spelling of a path gives a request a higher class than any backend's reading of it has.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "fuzz/path_backends.hpp"
#include "fuzz/path_reference.hpp"
#include "traffic/classify/classify.hpp"
#include "unit/traffic/classify/class_routes.hpp"

using namespace spillway;
using namespace spillway::traffic;

namespace {

config::Config shop() {
  config::Config config;
  config.classes = {{.name = "P0"}, {.name = "P1"}, {.name = "P2"}};
  config.routes = {route("/checkout/**", 0), route("/checkout/*/x/**", 0), route("/export/**", 2),
                   route("/a/*/c", 0),       route("/a/b/**", 2),          route("/*/a", 2),
                   route("default", 1)};
  config.routes.back().match.path.clear();
  return config;
}

class Judge {
 public:
  Judge() : reference_(config_.routes), classifier_(config_) {}

  PathRoute given(const std::string& path) const {
    return classifier_.route_of(http::Verb::get, "GET", "h", path);
  }
  std::size_t class_at(const std::string& served) const {
    return index(config_.routes[reference_.route_of("GET", "h", served)].traffic_class);
  }
  // The first reading alone: what a proxy would give that knows no other.
  std::size_t naive(const std::string& path) const {
    return index(
        config_.routes[reference_.route_of("GET", "h", fuzz::first_reading(path))].traffic_class);
  }

 private:
  config::Config config_ = shop();
  fuzz::RouteReference reference_;
  Classifier classifier_;
};

std::string random_path(Random& random) {
  static const std::vector<std::string> kParts{
      "/",   "/",        "/",   "//",   "a",       "b",   "c",     "x",     "checkout", "export",
      ".",   "..",       "/..", "/.",   "%2e",     "%2E", "%2f",   "%2F",   "%5c",      "\\",
      ";",   ";x=1",     "%3b", "%00",  "%3f",     "%23", "%252",  "%252e", "%252f",    "%61",
      "%62", "%65",      "%20", "%%32", "%40",     "%25", "..;",   "/../",  "/..%2f",   "%",
      "/;/", "/%2e%2e/", "%09", "%0a",  "..%20",   ".",   "%2525", "///",   "\xa0",     "\x85",
      "%a0", "%85",      "%0b", "/%20", "\xc3\xa0"};
  std::string path = random.next() % 4 == 0   ? "/checkout/"
                     : random.next() % 4 == 0 ? "/export/"
                                              : "/";
  for (std::uint64_t left = 1 + random.next() % 9; left > 0; --left)
    path += kParts[random.next() % kParts.size()];
  return path;
}

}  // namespace

TEST_CASE("of a table of spellings each gets the class of its lowest reading") {
  const Judge judge;
  const std::pair<const char*, std::size_t> cases[] = {
      {"/checkout/x", 0},
      {"/checkout/x/", 0},
      {"/checkout/a%20b", 0},
      {"/checkout/a%2Fb", 0},
      {"/checkout/a;v=1", 0},
      {"/checkout/a%40b", 0},
      {"/checkout//x", 0},
      {"/checkout/./x", 0},
      // A backend that merges no slashes, decodes nothing or resolves nothing takes these for other
      // paths.
      {"//checkout/x", 1},
      {"/./checkout/x", 1},
      {"/%63heckout/x", 1},
      {"/checkout%2fx", 1},
      {"/checkout;v/x", 1},
      {"/checkout\\x", 1},
      {"/x/../checkout/y", 1},
      {"/checkout/../x", 1},
      // What is dear, dressed up as what is precious.
      {"/ /export/x", 2},  // which no request line can have
      {"/%20/export/x", 2},
      {"/export/../checkout/x", 2},
      {"/export//../checkout/x", 2},
      {"/export/./../checkout/x", 2},
      {"/export/%2e%2e/checkout/x", 2},
      {"/export/.%2e/checkout/x", 2},
      {"/export/..%2fcheckout/x", 2},
      {"/export%2f../checkout/x", 2},
      {"/export/..;/checkout/x", 2},
      {"/export/..;a=b/checkout/x", 2},
      {"/export;/../checkout/x", 2},
      {"/export\\..\\checkout/x", 2},
      {"/export/..\\checkout/x", 2},
      {"/export/..%5ccheckout/x", 2},
      {"/checkout/..%2fexport/..;/../checkout/x", 2},
      {"/checkout/../export/x", 2},
      {"/checkout//../export/x", 2},
      {"/checkout/x/..//../export/y", 2},
      {"/checkout/%2e%2e%2fexport", 2},
      {"/checkout/%252e%252e/export/x", 2},
      {"/checkout/..%252fexport/x", 2},
      {"/checkout/%%32e%%32e/export/x", 2},
      {"/export%00/../checkout/x", 2},
      {"/checkout/.%00./export/x", 2},
      {"/check%00out/../ex%00port/x", 2},
      {"/export%3f/../checkout/x", 2},
      {"/export%23/../checkout/x", 2},
      {"//checkout/export/x", 2},
      {"//h/export/x", 2},
      {"/\\h/export/x", 2},
      {"/%65xport/x", 2},
      {"/checkout/..;/export", 2},
      {"/checkout/..%3b/export", 2},
      {"/checkout/%3b/../../export", 2},
      // An authority behind more than two slashes (the URL standard).
      {"///checkout/export/x", 2},
      {"////h/export/x", 2},
      {"/\\/h/export/x", 2},
      {"/.//h/export/x", 2},
      // One reader behind another: NGINX before Tomcat, two that resolve, two that decode.
      {"/checkout/..;/export/..;%2f../checkout/z", 2},
      {"/checkout/..;/x%2f../../export", 2},
      {"/export/..;%2f..;%2f../checkout/z", 2},
      {"/checkout/%25252e%25252e/export/x", 2},
      {"/checkout/..%2525252fexport", 2},
      {"/checkout/%2%35252e./export", 2},
      // A decoder before a parser of the URL standard, which drops tabs and line ends.
      {"/checkout/.%09./export", 2},
      {"/checkout/.%0a%0d./export", 2},
      {"/ex%09port/x", 2},
      {"/checkout/%2%0952e%252e/export", 2},
      {"/export%20/x", 2},
      // Windows drops dots and spaces at the end of a name.
      {"/checkout/..%20/export", 2},
      {"/export./x", 2},
      {"/export.%20./x", 2},
      {"/checkout/../export%01", 2},
      {"/export%00%20", 2},
      // Blanks of ISO 8859-1 at the end (Python), as they are and escaped.
      {"/export\xa0", 2},
      {"/export\x85", 2},
      {"/export/\x85\xa0\x85", 2},
      {"/export%a0", 2},
      {"/export%85%A0", 2},
      {"/export%25a0", 2},
      {"/export\xa0?q", 2},
      {"/export\xa0/x", 2},
      {"/checkout/..\xa0/export", 2},
      // Blanks around a segment (Spring's AntPathMatcher before 4.3).
      {"/%20export/x", 2},
      {"/%20%20export/x", 2},
      {"/%09export/x", 2},
      {"/%0bexport%1f/x", 2},
      {"/%01export%0c/x", 2},
      {"/%a0export/x", 2},
      {"/\205export/x", 2},
      {"/%2520export/x", 2},
      {"/%5c%20export/x", 2},
      {"/%20;v/%20export/x", 2},
      {"/checkout/%20..%20/export", 2},
      {"/checkout/%20../export", 2},
      // Parameters of the last segment only, and all from the first semicolon on.
      {"/export;/../checkout", 2},
      {"/export/x;/../../checkout/..;/y", 2},
      // What is near these, and nothing is dear in it.
      {"/checkout/x.", 0},
      {"/checkout/a%20b/c%20", 0},
      {"/checkout/a%09b", 0},
      {"/checkout/a%2525b", 0},
      {"/checkout/...", 0},
      {"/checkout/%20x%20/%20y", 0},
      {"/checkout/voil\xc3\xa0", 0},
      {"/checkout/voil%C3%A0/\xe2\x80\x85", 0},
      {"/checkout/\xa0x\x85", 0},
  };
  for (const auto& [path, expected] : cases) {
    CAPTURE(path);
    CHECK(index(judge.given(path).traffic_class) == expected);
  }
}

TEST_CASE("no backend, nor one behind another, takes a path for one of a lower class") {
  const Judge judge;
  Random random(1);
  std::size_t misled = 0;
  std::size_t chained = 0;
  for (int round = 0; round < 1500; ++round) {
    const std::string path = random_path(random);
    const std::size_t given = index(judge.given(path).traffic_class);
    for (const fuzz::ServedPath& served : fuzz::served_paths(path)) {
      const std::size_t its = judge.class_at(served.path);
      if (its > given) {
        CAPTURE(path);
        CAPTURE(served.first);
        CAPTURE(served.second);
        CHECK(given >= its);
      }
      misled += its > judge.naive(path);
      chained += its > judge.naive(path) && !served.first.empty();
    }
  }
  // One reading alone would not do, nor would those of one backend: the claim can fail.
  CHECK(misled > 200);
  CHECK(chained > 80);
}

TEST_CASE("an ambiguous path is told from one whose readings are of different routes") {
  const Judge judge;
  const auto expect = [&](const std::string& path, bool ambiguous, bool conflicts) {
    CAPTURE(path);
    CHECK(judge.given(path).is_ambiguous == ambiguous);
    CHECK(judge.given(path).conflicts == conflicts);
  };
  expect("/checkout/x", false, false);
  expect("/checkout/%41", false, false);
  expect("/checkout/.well-known", false, false);
  expect("/checkout/a%2fb", true, false);
  expect("/checkout/a;v=1", true, false);
  expect("/checkout/a%09b", true, false);
  expect("/checkout/Inc.", false, false);
  expect("/checkout/Inc./y%20", false, false);
  expect("/checkout/%20y/z%a0/\x85", false, false);
  expect("/checkout/voil\xc3\xa0", false, false);
  expect("/%20checkout/x", true, true);
  expect("/checkout//y", true, false);
  expect("/%63heckout/x", true, true);
  expect("/checkout/../export", true, true);
  std::string long_one = "/checkout";
  while (long_one.size() < 3000) long_one += "/..;%2f%5c\\a";
  expect(long_one, true, true);
  CHECK(index(judge.given(long_one).traffic_class) == 2);
}

TEST_CASE("no spelling that a backend takes for a waiting room's path is judged as another's") {
  config::Config config = shop();
  config.routes[0].waiting_room.emplace();  // /checkout
  const Classifier classifier(config);
  const auto given = [&](std::string_view path) {
    return classifier.route_of(http::Verb::get, "GET", "h", path);
  };
  const auto waits = [&](const PathRoute& found) {
    return config.routes[index(found.route)].waiting_room.has_value();
  };
  for (const std::string path :
       {"/x/%2e%2e/checkout/y", "/x/..%2fcheckout/y", "/checkout%2fy", "/%63heckout/x",
        "/checkout/../export", "/checkout\xa0", "/checkout\x85", "/%20checkout/x"}) {
    CAPTURE(path);
    CHECK(given(path).may_pass_by);
  }
  std::string long_one = "/x";
  while (long_one.size() < 3000) long_one += "/..;%2f%5c\\a";
  CHECK(given(long_one).may_pass_by);
  CHECK_FALSE(given("/checkout/a%2fb").may_pass_by);
  CHECK_FALSE(given("/x/../export/y").may_pass_by);

  const fuzz::RouteReference reference(config.routes);
  Random random(2);
  std::size_t served_there = 0;
  for (int round = 0; round < 1500; ++round) {
    const std::string path = random_path(random);
    const PathRoute found = given(path);
    for (const fuzz::ServedPath& served : fuzz::served_paths(path)) {
      const std::size_t at = reference.route_of("GET", "h", served.path);
      if (!config.routes[at].waiting_room) continue;
      ++served_there;
      CAPTURE(path);
      CAPTURE(served.first);
      CAPTURE(served.second);
      CHECK((found.may_pass_by || waits(found)));
    }
  }
  CHECK(served_there > 200);
}

TEST_CASE("where the path may be another route's, the learned cost does not raise the class") {
  config::Config config = shop();
  config.routes[2].priority_by_cost = true;  // /export
  const Classifier classifier(config);
  const auto classification = [&](const char* path) {
    http::RequestHead head;
    head.method = http::Verb::get;
    head.method_name = "GET";
    head.host = "h";
    head.path_and_query = path;
    return classifier.classify(head, {}, TimePoint{});
  };
  CHECK(classifier.goes_by_cost(classification("/export/x")));
  const Classification confused = classification("/x/../export/y");
  CHECK_FALSE(classifier.goes_by_cost(confused));
  CHECK(index(confused.traffic_class) == 2);
}
