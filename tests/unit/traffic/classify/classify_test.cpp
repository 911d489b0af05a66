#include "traffic/classify/classify.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "http/message/framing.hpp"

using namespace spillway;
using namespace spillway::traffic;

namespace {

config::Config three_classes() {
  config::Config config;
  config.classes = {
      {.name = "P0", .weight = 1}, {.name = "P1", .weight = 1}, {.name = "P2", .weight = 1}};
  config.classes[2].sla = Milliseconds(3000);
  config.tenants.api_keys = {{.tenant = "shop", .key = "k"}};
  config.routes = {
      {.name = "checkout", .match = {.path = "/checkout/**"}, .traffic_class = ClassId{0}},
      {.name = "export",
       .match = {.path = "/export/**"},
       .traffic_class = ClassId{2},
       .upstream = UpstreamId{1}},
      {.name = "numeric",
       .match = {.path = "/numeric"},
       .priority = 50,
       .deadline = Milliseconds(70)},
      {.name = "default", .match = {}, .traffic_class = ClassId{1}},
  };
  return config;
}

Classification classify(std::string_view path, const std::string& fields = "") {
  static const config::Config config = three_classes();
  static const Classifier classifier(config);
  static std::string text;
  static http::RequestHead head;
  text = "GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
  REQUIRE(http::parse_request(text, head) == http::Error::none);
  REQUIRE(http::request_framing(head) == http::Error::none);
  const Peer peer = classifier.peer(*parse_ip_address("192.0.2.7"));
  return classifier.classify(head, peer, TimePoint(std::chrono::seconds(5)));
}

}  // namespace

TEST_CASE("a request gets route class upstream tenant and deadline") {
  const Classification classification = classify("/export/a?b", "X-Api-Key: k\r\n");
  CHECK(index(classification.route) == 1);
  CHECK(classification.traffic_class == ClassId{2});
  CHECK(classification.upstream == UpstreamId{1});
  CHECK(classification.tenant.source == config::TenantKey::api_key);
  CHECK(classification.tenant.value() == "shop");
  CHECK_FALSE(classification.trusted_priority);
  CHECK(classification.deadline == TimePoint(Milliseconds(8000)));
  const Classification numeric = classify("/numeric");
  CHECK(numeric.traffic_class == ClassId{1});
  CHECK(numeric.deadline == TimePoint(Milliseconds(5070)));
  CHECK(index(classify("/other").route) == 3);
  CHECK(index(classify("http://b/checkout").route) == 0);
}

TEST_CASE("no spelling of a path dodges its class") {
  for (const char* path :
       {"/export/a", "//export/a", "/./export/a", "/checkout/../export", "/%65xport/a",
        "/export%2Fa", "/export%5Ca", "/export\\a", "/checkout/..%2Fexport/a",
        "/checkout/%2e%2e/export/a", "/checkout%2F..%2Fexport", "/export/%2e%2e/checkout",
        "/export/..%2Fcheckout", "/export/", "/export;v=1/a", "/checkout/..;/export/a",
        "/checkout/..%3b/export/a", "/checkout/..;v=1%2fexport"}) {
    CAPTURE(path);
    CHECK(classify(path).traffic_class == ClassId{2});
  }
  // An escape that is no separator to some and one to others: the lower class of both.
  CHECK(classify("/checkout%2Fa").traffic_class == ClassId{1});
  CHECK(classify("/checkout/a%2Fb").traffic_class == ClassId{0});
}

TEST_CASE("ingress weights of 250 600 and 150 part the priorities to a hundred and to a thousand") {
  std::vector<config::TrafficClass> classes(3);
  classes[0].ingress_weight = 250;
  classes[1].ingress_weight = 600;
  classes[2].ingress_weight = 150;
  const auto counts = [&](std::uint32_t highest) {
    std::array<int, 3> out{};
    for (std::uint32_t priority = 0; priority <= highest; ++priority) {
      const ClassId id = class_of_priority(priority, classes, highest);
      ++out[index(id)];
      if (priority > 0) CHECK(id <= class_of_priority(priority - 1, classes, highest));
    }
    return out;
  };
  CHECK(counts(100) == std::array{25, 60, 16});
  CHECK(counts(1000) == std::array{250, 600, 151});
  CHECK(index(class_of_priority(751, classes, 1000)) == 0);
  CHECK(index(class_of_priority(750, classes, 1000)) == 1);
  CHECK(index(class_of_priority(151, classes, 1000)) == 1);
  CHECK(index(class_of_priority(150, classes, 1000)) == 2);
  // The egress weights have no part in it.
  classes[2].egress_weight = 10000;
  CHECK(counts(1000) == std::array{250, 600, 151});
}

TEST_CASE("a route may take its class from the learned cost of its requests") {
  config::Config config = three_classes();
  config.priority_max = 1000;
  config.classes[0].ingress_weight = 250;
  config.classes[1].ingress_weight = 600;
  config.classes[2].ingress_weight = 150;
  config.routes[1].priority_by_cost = true;
  const Classifier classifier(config);
  const TimePoint arrived(std::chrono::seconds(5));
  Classification classification{.route = RouteId{1}, .traffic_class = ClassId{2}};
  REQUIRE(classifier.goes_by_cost(classification));
  const std::pair<double, unsigned> expected[] = {{0.01, 0}, {249, 0},  {250, 1},  {849, 1},
                                                  {850, 2},  {1000, 2}, {30000, 2}};
  for (const auto& [milliseconds, its_class] : expected) {
    CAPTURE(milliseconds);
    classifier.classify_by_cost(classification, milliseconds, arrived);
    CHECK(index(classification.traffic_class) == its_class);
    CHECK(classification.deadline == arrived + config.classes[its_class].sla);
  }
  classifier.set_class(classification, ClassId{1}, arrived);
  CHECK(classification.traffic_class == ClassId{1});
  CHECK(classification.deadline == arrived + config.classes[1].sla);
  classification.has_route_deadline = true;
  classification.deadline = arrived;
  classifier.classify_by_cost(classification, 1, arrived);
  CHECK(classification.deadline == arrived);
  classifier.set_class(classification, ClassId{2}, arrived);
  CHECK(classification.deadline == arrived);
  classification.trusted_priority = 3;
  CHECK_FALSE(classifier.goes_by_cost(classification));
  CHECK_FALSE(classifier.goes_by_cost({.route = RouteId{0}}));
}

TEST_CASE("a numeric priority lands in a band as wide as its class's ingress weight") {
  std::vector<config::TrafficClass> classes(3);
  const std::pair<unsigned, unsigned> equal[] = {{100, 0}, {67, 0}, {66, 1},  {34, 1},
                                                 {33, 2},  {0, 2},  {1000, 0}};
  for (const auto& [priority, expected] : equal) {
    CAPTURE(priority);
    CHECK(index(class_of_priority(priority, classes)) == expected);
  }
  classes[0].weight = 8;
  classes[1].weight = 3;
  classes[2].weight = 1;
  CHECK(index(class_of_priority(34, classes)) == 0);
  CHECK(index(class_of_priority(33, classes)) == 1);
  CHECK(index(class_of_priority(9, classes)) == 1);
  CHECK(index(class_of_priority(8, classes)) == 2);
  classes[0].ingress_weight = 0.001;
  CHECK(index(class_of_priority(100, classes)) == 0);
  CHECK(index(class_of_priority(99, classes)) == 1);
  CHECK(index(class_of_priority(50, {classes[0]})) == 0);
}

namespace {

config::Route route(std::string path, unsigned traffic_class, unsigned upstream = 0) {
  return {.name = path,
          .match = {.path = path},
          .traffic_class = ClassId{static_cast<unsigned char>(traffic_class)},
          .upstream = UpstreamId{static_cast<std::uint16_t>(upstream)}};
}

PathRoute route_of(std::vector<config::Route> routes, std::string_view path) {
  config::Config config = three_classes();
  config.routes = std::move(routes);
  return Classifier(config).route_of(http::Verb::get, "GET", "a", path);
}

}  // namespace

TEST_CASE("a path with capitals has no higher class than in small letters, at its own route") {
  const std::vector<config::Route> routes{route("/checkout/**", 0), route("/export/**", 2),
                                          route("default", 1)};
  for (const char* path : {"/EXPORT/a", "/Export", "/%45xport/a", "/x/../exporT/a"}) {
    CAPTURE(path);
    const PathRoute found = route_of(routes, path);
    CHECK(index(found.route) == 2);
    CHECK(found.traffic_class == ClassId{2});
    CHECK(found.has_capitals);
  }
  CHECK_FALSE(route_of(routes, "/EXPORT/a").conflicts);
  CHECK(route_of(routes, "/Checkout/a").traffic_class == ClassId{1});  // no higher one either
  const PathRoute below = route_of(routes, "/export/Capitals");
  CHECK(below.traffic_class == ClassId{2});
  CHECK_FALSE(below.has_capitals);
}

TEST_CASE("patterns with capitals are met in small letters") {
  const std::vector<config::Route> routes{route("/Export/**", 2), route("default", 1)};
  CHECK(index(route_of(routes, "/Export/a").route) == 0);
  for (const char* path : {"/export/a", "/EXPORT/a"}) {
    CAPTURE(path);
    CHECK(route_of(routes, path).traffic_class == (path[1] == 'E' ? ClassId{2} : ClassId{1}));
  }
}

TEST_CASE("capitals make no difference to another upstream, nor where routes differ by them") {
  CHECK(route_of({route("/export/**", 2, 1), route("default", 1)}, "/EXPORT").traffic_class ==
        ClassId{1});
  CHECK(route_of({route("/export/**", 2), route("/EXPORT/**", 0), route("default", 1)}, "/EXPORT")
            .traffic_class == ClassId{0});
  CHECK(route_of({route("/export/**", 2), route("/EXPORT/**", 0), route("default", 1)}, "/Export")
            .traffic_class == ClassId{2});
}

TEST_CASE("who asks with capitals for a route with a waiting room waits there") {
  std::vector<config::Route> routes{route("/sale/**", 1), route("default", 1)};
  routes[0].waiting_room.emplace();
  const PathRoute found = route_of(routes, "/SALE/tickets");
  CHECK(index(found.route) == 0);
  CHECK_FALSE(found.may_pass_by);
  CHECK(index(route_of(routes, "/Sales").route) == 1);
  routes.insert(routes.begin(), route("/export/**", 2));
  for (const char* path : {"/SALE%2f..%2fexport", "/SALE/..;/export", "/SALE/x/..;/..;/export"}) {
    CAPTURE(path);
    CHECK(route_of(routes, path).may_pass_by);
  }
}
