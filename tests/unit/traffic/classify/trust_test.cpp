// A client's fields alone change neither its class nor its tenant.
#include <doctest/doctest.h>

#include <string>

#include "http/message/framing.hpp"
#include "traffic/classify/classify.hpp"

using namespace spillway;
using namespace spillway::traffic;

namespace {

config::Config shop() {
  config::Config config;
  config.trusted_peers = {"10.0.0.0/8"};
  config.classes = {
      {.name = "P0", .weight = 1}, {.name = "P1", .weight = 1}, {.name = "P2", .weight = 1}};
  config.classes[0].sla = Milliseconds(100);
  config.classes[2].sla = Milliseconds(3000);
  config.tenants.api_keys = {{.tenant = "shop", .key = "s3cret", .tier = "vip"}};
  config.trusted_headers = {
      .tenant = "X-Tenant", .priority = "X-Priority", .tier = "X-Tier", .user = "X-User"};
  config.routes = {
      {.name = "export", .match = {.path = "/export"}, .traffic_class = ClassId{2}},
      {.name = "report",
       .match = {.path = "/report"},
       .priority = 50,
       .upstream = UpstreamId{1},
       .deadline = Milliseconds(70)},
      {.name = "default", .match = {}, .traffic_class = ClassId{1}},
  };
  return config;
}

struct House {
  explicit House(const config::Config& config = shop()) : classifier(config) {}

  Classification classify(const std::string& from, const std::string& path,
                          const std::string& fields) {
    text = "GET " + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
    REQUIRE(http::parse_request(text, head) == http::Error::none);
    REQUIRE(http::request_framing(head) == http::Error::none);
    return classifier.classify(head, classifier.peer(*parse_ip_address(from)), TimePoint{});
  }
  std::size_t class_of(const std::string& from, const std::string& path,
                       const std::string& fields) {
    return index(classify(from, path, fields).traffic_class);
  }

  std::string tier_of(const std::string& from, const std::string& fields,
                      const TokenWord& word = {}) {
    const Classification classification = classify(from, "/export", fields);
    const Peer peer = classifier.peer(*parse_ip_address(from));
    return std::string(classifier.waiting_tier(head, peer, classification.tenant, word));
  }

  std::string user_of(const std::string& from, const std::string& fields,
                      const TokenWord& word = {}) {
    const Classification classification = classify(from, "/export", fields);
    const Peer peer = classifier.peer(*parse_ip_address(from));
    const VerifiedUser user = classifier.waiting_user(head, peer, classification.tenant, word);
    if (user.name.empty()) return {};
    return std::string(1, static_cast<char>(user.source)).append(1, ' ').append(user.name);
  }

  Classifier classifier;
  http::RequestHead head;
  std::string text;
};

const std::string kEverything =
    "X-Api-Key: guessed\r\nX-Tenant: shop\r\nX-Priority: 100\r\nX-Forwarded-For: 203.0.113.9\r\n"
    "X-Real-IP: 203.0.113.9\r\nForwarded: for=203.0.113.9\r\nSpillway-Class: P0\r\n"
    "Priority: u=0\r\n";

}  // namespace

TEST_CASE("a balancer that is trusted with addresses alone vouches for nothing else") {
  config::Config config = shop();
  config.trusted_headers = {};
  House house(config);
  const Classification classification = house.classify("10.0.0.1", "/export", kEverything);
  CHECK(index(classification.traffic_class) == 2);
  CHECK(classification.tenant.source == config::TenantKey::client_address);
  CHECK(classification.tenant.value() == "203.0.113.9");
}

TEST_CASE("a proven key's class takes the place of the route's, a trusted priority that of both") {
  config::Config config = shop();
  config.tenants.api_keys[0].traffic_class = ClassId{0};
  House house(config);
  const std::string client = "192.0.2.7", proxy = "10.0.0.1", key = "X-Api-Key: s3cret\r\n";
  CHECK(house.class_of(client, "/export", "") == 2);
  CHECK(house.class_of(client, "/export", key) == 0);
  CHECK(house.class_of(client, "/report", key) == 0);
  CHECK(house.class_of(client, "/export", "X-Api-Key: guessed\r\n") == 2);
  CHECK(house.class_of(client, "/export", key + "X-Priority: 1\r\n") == 0);
  CHECK(house.class_of(proxy, "/export", key + "X-Priority: 1\r\n") == 2);
  // The deadline is that of the class, where the route has none.
  CHECK(house.classify(client, "/export", key).deadline == TimePoint(Milliseconds(100)));
  CHECK(house.classify(client, "/report", key).deadline == TimePoint(Milliseconds(70)));
}

TEST_CASE("an untrusted client that claims everything gets its address and its route's class") {
  House house;
  const Classification claimed = house.classify("192.0.2.7", "/export", kEverything);
  const Classification plain = house.classify("192.0.2.7", "/export", "");
  CHECK(claimed.tenant.source == config::TenantKey::client_address);
  CHECK(claimed.tenant.value() == "192.0.2.7");
  CHECK(claimed.tenant.id == plain.tenant.id);
  CHECK(claimed.traffic_class == ClassId{2});
  CHECK(claimed.deadline == plain.deadline);
  CHECK_FALSE(claimed.trusted_priority);
  // The same words of a trusted peer count.
  const Classification trusted = house.classify("10.0.0.1", "/export", kEverything);
  CHECK(trusted.tenant.source == config::TenantKey::trusted_header);
  CHECK(trusted.tenant.value() == "shop");
  CHECK(trusted.traffic_class == ClassId{0});
}

TEST_CASE("a spoofed X-Forwarded-For does not make a client trusted") {
  House house;
  const std::string fields = "X-Forwarded-For: 10.0.0.1\r\nX-Priority: 100\r\nX-Tenant: shop\r\n";
  const Classification classification = house.classify("192.0.2.7", "/export", fields);
  CHECK(classification.tenant.value() == "192.0.2.7");
  CHECK(classification.traffic_class == ClassId{2});
}

TEST_CASE("a trusted peer's priority gives the class and its deadline unless the route has one") {
  House house;
  CHECK(house.class_of("10.0.0.1", "/export", "X-Priority: 100\r\n") == 0);
  CHECK(house.class_of("10.0.0.1", "/export", "x-priority: 50\r\n") == 1);
  CHECK(house.class_of("10.0.0.1", "/other", "X-Priority: 0\r\n") == 2);
  CHECK(house.class_of("10.0.0.1", "/report", "X-Priority: 100\r\n") == 0);
  const Classification raised = house.classify("10.0.0.1", "/export", "X-Priority: 99\r\n");
  CHECK(raised.trusted_priority == 99u);
  CHECK(raised.deadline == TimePoint(Milliseconds(100)));
  CHECK(index(raised.route) == 0);
  const Classification routed = house.classify("10.0.0.1", "/report", "X-Priority: 0\r\n");
  CHECK(routed.deadline == TimePoint(Milliseconds(70)));
  CHECK(routed.upstream == UpstreamId{1});
}

TEST_CASE("a priority that is malformed or out of range or repeated is ignored") {
  House house;
  for (const std::string value : {"", "101", "1000", "-1", "+1", "1.0", "0x1",
                                  "99999999999999999999", "1 2", "1,2", "high", "\"1\"", "100a"}) {
    CAPTURE(value);
    CHECK(house.class_of("10.0.0.1", "/export", "X-Priority: " + value + "\r\n") == 2);
  }
  CHECK(house.class_of("10.0.0.1", "/export", "X-Priority: 100\r\nX-Priority: 100\r\n") == 2);
  CHECK(house.class_of("10.0.0.1", "/export", "X-Priority: 100\r\nX-Other: 1\r\n") == 0);
}

TEST_CASE("the priority's field has the configured name and none if that is empty") {
  config::Config config = shop();
  config.trusted_headers.priority = "Rank";
  House renamed(config);
  CHECK(renamed.class_of("10.0.0.1", "/export", "rank: 100\r\n") == 0);
  CHECK(renamed.class_of("10.0.0.1", "/export", "X-Priority: 100\r\n") == 2);
  config.trusted_headers.priority = "";
  House off(config);
  CHECK(off.class_of("10.0.0.1", "/export", "Rank: 100\r\nX-Priority: 100\r\n") == 2);
}

TEST_CASE("the tier of a visitor is a trusted peer's word, or else that of the API key") {
  House house;
  const std::string key = "X-Api-Key: s3cret\r\n", guessed = "X-Api-Key: guess\r\n";
  const std::string client = "192.0.2.1", proxy = "10.0.0.1";
  CHECK(house.tier_of(client, "").empty());
  CHECK(house.tier_of(client, key) == "vip");
  CHECK(house.tier_of(client, guessed).empty());
  CHECK(house.tier_of(client, key + key).empty());
  CHECK(house.tier_of(client, "X-Tier: premium\r\n").empty());
  CHECK(house.tier_of(client, key + "X-Tier: premium\r\n") == "vip");
  CHECK(house.tier_of(proxy, "X-Tier: premium\r\n") == "premium");
  CHECK(house.tier_of(proxy, key + "X-Tier: premium\r\n") == "premium");
  CHECK(house.tier_of(proxy, key) == "vip");
  CHECK(house.tier_of(proxy, key + "X-Tier: premium\r\nX-Tier: vip\r\n") == "vip");
  config::Config config = shop();
  config.trusted_headers.tier = "";
  House off(config);
  CHECK(off.tier_of(proxy, "X-Tier: premium\r\n").empty());
}

TEST_CASE("a verified token goes before an API key, and a trusted peer's word before both") {
  House house;
  const std::string key = "X-Api-Key: s3cret\r\n", said = "X-Tier: premium\r\nX-User: ann\r\n";
  const std::string client = "192.0.2.1", proxy = "10.0.0.1";
  const TokenWord word{TokenSource::jwt, "enterprise", "bob"};
  CHECK(house.tier_of(client, said, word) == "enterprise");
  CHECK(house.tier_of(client, key, word) == "enterprise");
  CHECK(house.tier_of(proxy, key + said, word) == "premium");
  CHECK(house.user_of(client, said, word) == "j bob");
  CHECK(house.user_of(client, key, word) == "j bob");
  CHECK(house.user_of(client, key, {TokenSource::cookie, "", "bob"}) == "c bob");
  CHECK(house.user_of(proxy, key + said, word) == "f ann");
  // What a token does not say may be said by the key.
  CHECK(house.tier_of(client, key, {TokenSource::jwt, "", "bob"}) == "vip");
  CHECK(house.user_of(client, key, {TokenSource::jwt, "enterprise", ""}) == "k shop");
}

TEST_CASE("the user of a visitor is a trusted peer's word, or else the API key's tenant") {
  House house;
  const std::string key = "X-Api-Key: s3cret\r\n", ann = "X-User: ann\r\n";
  const std::string client = "192.0.2.1", proxy = "10.0.0.1";
  CHECK(house.user_of(client, "").empty());
  CHECK(house.user_of(client, ann).empty());
  CHECK(house.user_of(client, "X-Api-Key: guess\r\n").empty());
  CHECK(house.user_of(client, key) == "k shop");
  CHECK(house.user_of(client, key + ann) == "k shop");
  CHECK(house.user_of(proxy, "").empty());
  CHECK(house.user_of(proxy, "X-Tenant: shop\r\n").empty());  // a tenant may be many
  CHECK(house.user_of(proxy, ann) == "f ann");
  CHECK(house.user_of(proxy, key + ann) == "f ann");
  CHECK(house.user_of(proxy, key + ann + ann) == "k shop");
  config::Config config = shop();
  config.trusted_headers.user = "";
  House off(config);
  CHECK(off.user_of(proxy, ann).empty());
}
