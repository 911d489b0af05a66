#include "traffic/classify.hpp"

#include <doctest/doctest.h>

#include <string>

#include "http/framing.hpp"

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

Subject classify(std::string_view path, const std::string& fields = "") {
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
  const Subject subject = classify("/export/a?b", "X-Api-Key: k\r\n");
  CHECK(index(subject.route) == 1);
  CHECK(subject.traffic_class == ClassId{2});
  CHECK(subject.upstream == UpstreamId{1});
  CHECK(subject.tenant.source == config::TenantKey::api_key);
  CHECK(subject.tenant.value() == "shop");
  CHECK_FALSE(subject.trusted_priority);
  CHECK(subject.deadline == TimePoint(Milliseconds(8000)));
  const Subject numeric = classify("/numeric");
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
