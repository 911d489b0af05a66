// Who a request says it is twice: to Spillway one, to a backend that takes the other field another.
#include "traffic/client/sole_fields.hpp"

#include <doctest/doctest.h>

#include <string>

#include "http/message/framing.hpp"
#include "traffic/classify/classify.hpp"

using namespace spillway;
using namespace spillway::traffic;

namespace {

constexpr const char* kClient = "192.0.2.7";
constexpr const char* kProxy = "10.0.0.1";

config::Config house_of_keys() {
  config::Config config;
  config.trusted_peers = {"10.0.0.0/8"};
  config.tenants.api_keys = {{.tenant = "bronze", .key = "bronzekey"},
                             {.tenant = "silver", .key = "silver,key"}};
  config.trusted_headers = {
      .tenant = "X-Tenant", .priority = "X-Priority", .tier = "X-Tier", .user = "X-User"};
  config.classes = {{.name = "P0"}};
  config.routes = {{.name = "default", .match = {}}};
  return config;
}

struct Door {
  explicit Door(const config::Config& config = house_of_keys()) : classifier(config) {}

  bool is_unclear(const std::string& fields, const char* from = kClient) {
    const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
    http::RequestHead head;
    REQUIRE(http::parse_request(text, head) == http::Error::none);
    REQUIRE(http::request_framing(head) == http::Error::none);
    const Peer peer = classifier.peer(*parse_ip_address(from));
    return classifier.classify(head, peer, TimePoint{}).has_unclear_sender;
  }

  Classifier classifier;
};

const std::string kKey = "X-Api-Key: bronzekey\r\n";

}  // namespace

TEST_CASE("a key that comes twice is unclear whatever the other one is and wherever it stands") {
  Door door;
  for (const std::string other :
       {kKey, std::string("X-Api-Key: x\r\n"), std::string("X-Api-Key:\r\n"),
        std::string("x-api-KEY: bronzekey\r\n"), "X-Api-Key: " + std::string(300, 'k') + "\r\n"}) {
    CAPTURE(other);
    for (const char* from : {kClient, kProxy}) {
      CHECK(door.is_unclear(kKey + other, from));
      CHECK(door.is_unclear(other + kKey, from));
      CHECK(door.is_unclear(other + "A: b\r\nCookie: c=d\r\n" + kKey, from));
      CHECK_FALSE(door.is_unclear(other, from));
    }
  }
  CHECK_FALSE(door.is_unclear(""));
  CHECK_FALSE(door.is_unclear("X-Api-Key-2: x\r\n" + kKey));
}

TEST_CASE("two keys in one field are as unclear as in two, and a key may have a comma") {
  Door door;
  for (const std::string value :
       {"bronzekey,x", "x, bronzekey", "bronzekey,", ",bronzekey", "silver,key, bronzekey"}) {
    CAPTURE(value);
    CHECK(door.is_unclear("X-Api-Key: " + value + "\r\n"));
  }
  CHECK(door.is_unclear("X-Api-Key: bronzekey," + std::string(300, 'k') + "\r\n"));
  CHECK_FALSE(door.is_unclear("X-Api-Key: silver,key\r\n"));
  CHECK_FALSE(door.is_unclear("X-Api-Key: bronzekey;x\r\n"));
}

TEST_CASE("where no key is believed the backend may have as many as it likes") {
  config::Config without = house_of_keys();
  without.tenants.api_keys.clear();
  config::Config unused = house_of_keys();
  unused.tenants.key = {config::TenantKey::client_address};
  for (const config::Config& config : {without, unused}) {
    Door door(config);
    CHECK_FALSE(door.is_unclear(kKey + kKey));
    CHECK_FALSE(door.is_unclear("X-Api-Key: bronzekey, x\r\n"));
  }
}

TEST_CASE("Authorization comes once, with whatever scheme and configuration") {
  config::Config plain = house_of_keys();
  plain.trusted_peers.clear();
  plain.tenants.api_keys.clear();
  plain.trusted_headers = {};
  Door door(plain);
  const std::string basic = "Authorization: Basic YTpi\r\n", bearer = "authorization: Bearer x\r\n";
  CHECK(door.is_unclear(basic + basic));
  CHECK(door.is_unclear(bearer + basic));
  CHECK(door.is_unclear(basic + "Authorization:\r\n"));
  CHECK_FALSE(door.is_unclear(basic));
  // Parameters of Digest are a list.
  CHECK_FALSE(door.is_unclear("Authorization: Digest username=\"a\", realm=\"b\"\r\n"));
  CHECK_FALSE(door.is_unclear("Cookie: a=b\r\nCookie: a=b\r\nAccept: a\r\nAccept: b\r\n"));
}

TEST_CASE("the field of a JWT comes once, and its cookie as often as a browser sends it") {
  config::Config config = house_of_keys();
  config.trusted_tokens.jwt = config::VisitorJwt{.header = "X-Login"};
  const std::string twice = "X-Login: a.b.c\r\nX-Login: Bearer d.e.f\r\n";
  CHECK(Door(config).is_unclear(twice));
  CHECK_FALSE(Door(config).is_unclear("X-Login: a.b.c\r\n"));
  config.trusted_tokens.jwt->cookie = "login";
  CHECK_FALSE(Door(config).is_unclear(twice));
  CHECK_FALSE(Door(config).is_unclear("Cookie: login=a.b.c; login=d.e.f\r\n"));
}

TEST_CASE("what trusted_headers names comes once from a trusted peer, others' copies are dropped") {
  Door door;
  for (const std::string name : {"X-Tenant", "X-Priority", "X-Tier", "X-User"}) {
    CAPTURE(name);
    CHECK(door.is_unclear(name + ": 1\r\n" + name + ": 1\r\n", kProxy));
    CHECK(door.is_unclear(name + ": 1\r\nA: b\r\n" + name + ": 2\r\n", kProxy));
    CHECK_FALSE(door.is_unclear(name + ": 1\r\n" + name + ": 1\r\n", kClient));
    CHECK_FALSE(door.is_unclear(name + ": 1\r\n", kProxy));
  }
  CHECK(door.is_unclear("X-Priority: 99, 0\r\n", kProxy));
  CHECK(door.is_unclear("X-Priority: 99,0\r\n", kProxy));
  CHECK_FALSE(door.is_unclear("X-Priority: u=1, i\r\n", kProxy));  // RFC 9218
  CHECK_FALSE(door.is_unclear("X-Priority: 99, 0\r\n", kClient));
  CHECK_FALSE(door.is_unclear("X-User: CN=ann,O=shop\r\n", kProxy));
  CHECK_FALSE(door.is_unclear("X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\n", kProxy));
}
