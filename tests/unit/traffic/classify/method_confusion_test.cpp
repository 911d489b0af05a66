// No spelling of a method gives a request a higher class than a backend's reading of it has.
#include <doctest/doctest.h>

#include <string>

#include "traffic/classify/classify.hpp"
#include "unit/traffic/classify/class_routes.hpp"

using namespace spillway;
using namespace spillway::traffic;

namespace {

config::Config three_classes() {
  config::Config config;
  config.classes = {{.name = "P0"}, {.name = "P1"}, {.name = "P2"}};
  return config;
}

config::Config reports() {
  config::Config config = three_classes();
  config.routes = {route("/export/**", 2), route("/named/**", 2), route("/named/**", 0),
                   route("/cheap", 0),     route("/**", 1),       route("default", 1)};
  for (const int read : {0, 1, 3}) config.routes[read].match.methods = {"GET"};
  config.routes[2].match.methods = {"HEAD"};
  config.routes.back().match.path.clear();
  return config;
}

PathRoute head_of(const Classifier& classifier, std::string_view path) {
  return classifier.route_of(http::Verb::head, "HEAD", "h", path);
}

}  // namespace

TEST_CASE("a HEAD has no higher class than a GET of its path unless its route names it") {
  const config::Config config = reports();
  const Classifier classifier(config);
  const auto expect = [&](const char* path, std::size_t route, unsigned its_class) {
    CAPTURE(path);
    const PathRoute found = head_of(classifier, path);
    CHECK(index(found.route) == route);
    CHECK(index(found.traffic_class) == its_class);
    CHECK_FALSE(found.conflicts);
    CHECK_FALSE(found.is_ambiguous);
    CHECK_FALSE(found.may_pass_by);
  };
  expect("/export/x", 0, 2);
  expect("/named/x", 2, 0);
  expect("/cheap", 4, 1);  // not raised either
  expect("/other", 4, 1);
  CHECK(head_of(classifier, "/export/x").is_also_get);
  CHECK_FALSE(head_of(classifier, "/named/x").is_also_get);
  CHECK_FALSE(head_of(classifier, "/other").is_also_get);
  // The control: other methods keep to their own routes.
  CHECK(index(classifier.route_of(http::Verb::post, "POST", "h", "/export/x").route) == 4);
  // A spelling of another route's path conflicts as before.
  CHECK(head_of(classifier, "/other/../export/x").conflicts);
  CHECK(index(head_of(classifier, "/other/../export/x").traffic_class) == 2);
}

TEST_CASE("a HEAD passes by no waiting room that a GET would wait in") {
  config::Config config = reports();
  config.routes[3].waiting_room.emplace();  // /cheap
  const auto given = [&](const char* path) { return head_of(Classifier(config), path); };
  CHECK(index(given("/cheap").route) == 3);
  CHECK(index(given("/cheap").traffic_class) == 1);  // and the class is the lower one
  CHECK_FALSE(given("/cheap").may_pass_by);
  config.routes[4].waiting_room.emplace();  // both: that of the GET
  CHECK(index(given("/cheap").route) == 3);
  config.routes[3].waiting_room.reset();
  CHECK(index(given("/cheap").route) == 4);
  CHECK(index(given("/export/x").route) == 4);  // although the class is that of the GET
  CHECK(index(given("/export/x").traffic_class) == 2);
}

TEST_CASE("the learned cost of its route does not raise the class of a HEAD that a GET lowers") {
  config::Config config = reports();
  config.routes[0].priority_by_cost = true;
  config.routes[0].traffic_class = ClassId{0};
  const Classifier classifier(config);
  http::RequestHead head;
  head.method = http::Verb::head;
  head.method_name = "HEAD";
  head.host = "h";
  head.path_and_query = "/export/x";
  const Classification classification = classifier.classify(head, {}, TimePoint{});
  CHECK(index(classification.traffic_class) == 2);
  CHECK_FALSE(classifier.goes_by_cost(classification));
  head.method = http::Verb::get;
  head.method_name = "GET";
  CHECK(classifier.goes_by_cost(classifier.classify(head, {}, TimePoint{})));
}

TEST_CASE("a method in small letters has no higher class than the one in capitals") {
  config::Config config = three_classes();
  config.routes = {route("/checkout/**", 0), route("/**", 1), route("default", 1)};
  config.routes[1].match.methods = {"LIST", "VERSION-CONTROL"};
  config.routes[1].traffic_class = ClassId{2};
  config.routes[2].match.path.clear();
  const Classifier classifier(config);
  const auto given = [&](const char* method, const char* path) {
    return classifier.route_of(http::Verb::unknown, method, "h", path);
  };
  for (const char* method : {"list", "List", "LISt", "version-control"}) {
    CAPTURE(method);
    CHECK(index(given(method, "/x").traffic_class) == 2);
    CHECK(given(method, "/x").conflicts);
    CHECK(index(given(method, "/checkout/../x").traffic_class) == 2);
    CHECK_FALSE(given(method, "/checkout/x").conflicts);  // its route is for any method
    CHECK(index(given(method, "/checkout/x").traffic_class) == 0);
  }
  CHECK(index(given("LIST", "/x").traffic_class) == 2);
  CHECK_FALSE(given("LIST", "/x").conflicts);
  for (const char* method :
       {"lists", "LISTS", "lis", "l", "a-method-that-is-longer-than-all-others"}) {
    CAPTURE(method);
    CHECK(index(given(method, "/x").traffic_class) == 1);
    CHECK_FALSE(given(method, "/x").conflicts);
  }
}
