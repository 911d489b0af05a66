#include "traffic/client/tenant.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>

using namespace spillway;
using namespace spillway::traffic;
using config::TenantKey;

namespace {

config::Config two_keys() {
  config::Config config;
  config.trusted_peers = {"10.0.0.0/8"};
  config.tenants.api_keys = {{.tenant = "shop", .key = "s3cret"},
                             {.tenant = "shop", .key = "0ther"},
                             {.tenant = "192.0.2.7", .key = "address"},
                             {.tenant = "partner", .key = std::string(256, 'k')},
                             {.tenant = "long", .key = std::string(257, 'k')}};
  config.trusted_headers.tenant = "X-Tenant";
  return config;
}

struct House {
  explicit House(const config::Config& config = two_keys(), std::uint64_t seed = 1)
      : trusted(config.trusted_peers), resolver(config, trusted, seed) {}

  Tenant tenant(std::string_view peer, const std::string& fields) {
    text = "GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
    REQUIRE(http::parse_request(text, head) == http::Error::none);
    return resolver.resolve(head, resolver.peer(*parse_ip_address(peer)));
  }
  // Source and value, as explain shows them.
  std::string shown(std::string_view peer, const std::string& fields) {
    const Tenant found = tenant(peer, fields);
    constexpr std::array<std::string_view, 3> sources{"key ", "header ", "address "};
    return std::string(sources[index(found.source)]) + std::string(found.value());
  }

  TrustedPeers trusted;
  TenantResolver resolver;
  http::RequestHead head;
  std::string text;
};

constexpr const char* kClient = "192.0.2.7";
constexpr const char* kProxy = "10.0.0.1";

}  // namespace

TEST_CASE("which requests can claim which tenant") {
  House house;
  struct Claim {
    std::string fields;
    std::string by_client;  // from 192.0.2.7
    std::string by_proxy;   // from 10.0.0.1, which is trusted
  };
  const std::string me = "address 192.0.2.7";
  const std::string proxy = "address 10.0.0.1";
  for (const Claim& claim : {
           Claim{"", me, proxy},
           Claim{"X-Api-Key: s3cret\r\n", "key shop", "key shop"},
           Claim{"x-api-KEY: 0ther\r\n", "key shop", "key shop"},
           Claim{"X-Api-Key: guessed\r\n", me, proxy},
           Claim{"X-Api-Key: S3CRET\r\n", me, proxy},
           Claim{"X-Api-Key: s3cre\r\n", me, proxy},
           Claim{"X-Api-Key: shop\r\n", me, proxy},
           Claim{"X-Api-Key:\r\n", me, proxy},
           Claim{"X-Tenant: big\r\n", me, "header big"},
           Claim{"X-Tenant: big\r\nX-Tenant: big\r\n", me, proxy},
           Claim{"X-Tenant:\r\n", me, proxy},
           Claim{"X-Forwarded-For: 203.0.113.9\r\n", me, "address 203.0.113.9"},
           Claim{"X-Forwarded-For: 1.1.1.1, 203.0.113.9, 10.2.2.2\r\n", me, "address 203.0.113.9"},
           Claim{"X-Real-IP: 203.0.113.9\r\nForwarded: for=203.0.113.9\r\n", me, proxy},
           Claim{"X-Api-Key: s3cret\r\nX-Tenant: big\r\n", "key shop", "key shop"},
           Claim{"X-Api-Key: guessed\r\nX-Tenant: big\r\n", me, "header big"},
           Claim{"X-Api-Key: s3cret\r\nX-Api-Key: s3cret\r\nX-Tenant: big\r\n", me, "header big"},
           Claim{"X-Tenant: big\r\nX-Forwarded-For: 203.0.113.9\r\n", me, "header big"},
       }) {
    CAPTURE(claim.fields);
    CHECK(house.shown(kClient, claim.fields) == claim.by_client);
    CHECK(house.shown(kProxy, claim.fields) == claim.by_proxy);
  }
}

TEST_CASE("a field of more than 256 bytes counts as absent") {
  House house;
  const std::string fits(256, 'k');
  CHECK(house.shown(kClient, "X-Api-Key: " + fits + "\r\n") == "key partner");
  CHECK(house.shown(kClient, "X-Api-Key: " + fits + "k\r\n") == "address 192.0.2.7");
  CHECK(house.shown(kProxy, "X-Tenant: " + fits + "\r\n") == "header " + fits);
  CHECK(house.shown(kProxy, "X-Tenant: " + fits + "k\r\n") == "address 10.0.0.1");
}

TEST_CASE("the sources count in the configured order and others not at all") {
  const std::string both = "X-Tenant: big\r\nX-Api-Key: s3cret\r\n";
  config::Config config = two_keys();
  config.tenants.key = {TenantKey::trusted_header, TenantKey::api_key};
  House house(config);
  CHECK(house.shown(kProxy, both) == "header big");
  CHECK(house.shown(kClient, both) == "key shop");
  CHECK(house.shown(kClient, "") == "address ");
  CHECK(house.tenant(kClient, "").id == TenantId{});
}

TEST_CASE("a header is believed under the configured name and under none if that is empty") {
  config::Config config = two_keys();
  config.trusted_headers.tenant = "Account";
  House renamed(config);
  CHECK(renamed.shown(kProxy, "account: a\r\nX-Tenant: b\r\n") == "header a");
  CHECK(renamed.shown(kProxy, "X-Tenant: b\r\n") == "address 10.0.0.1");
  config.trusted_headers.tenant = "";
  House off(config);
  CHECK(off.shown(kProxy, "Account: a\r\nX-Tenant: b\r\n") == "address 10.0.0.1");
}

TEST_CASE("no key is believed where none is configured") {
  config::Config config = two_keys();
  config.tenants.api_keys.clear();
  House house(config);
  CHECK(house.shown(kClient, "X-Api-Key: s3cret\r\n") == "address 192.0.2.7");
}

TEST_CASE("a key that is configured by its digest is believed, and the digest itself is not") {
  config::Config config = two_keys();
  // Of "test-key".
  const std::string digest = "62af8704764faf8ea82fc61ce9c4c3908b6cb97d463a634e9e587d7c885db0ef";
  config.tenants.api_keys.push_back({.name = "hashed", .sha256 = digest});
  House house(config);
  CHECK(house.shown(kClient, "X-Api-Key: test-key\r\n") == "key hashed");
  CHECK(house.shown(kClient, "X-Api-Key: test-kez\r\n") == "address 192.0.2.7");
  CHECK(house.shown(kClient, "X-Api-Key: " + digest + "\r\n") == "address 192.0.2.7");
  CHECK(house.shown(kClient, "X-Api-Key: s3cret\r\n") == "key shop");
}

TEST_CASE("a tenant has one tier by all its keys and none by its address") {
  config::Config config = two_keys();
  config.tenants.api_keys[1].weight = 4;
  config.tenants.api_keys[3].traffic_class = ClassId{2};
  House house(config);
  CHECK(house.tenant(kClient, "X-Api-Key: s3cret\r\n").tier->weight == 4);
  CHECK(house.tenant(kClient, "X-Api-Key: 0ther\r\n").tier->number == 0);
  const config::Tier partner =
      *house.tenant(kClient, "X-Api-Key: " + std::string(256, 'k') + "\r\n").tier;
  CHECK(partner.weight == 1);
  CHECK(partner.traffic_class == ClassId{2});
  const Tenant stranger = house.tenant(kClient, "");
  CHECK(stranger.tier->number == config::Tier::kNoNumber);
  CHECK_FALSE(stranger.tier->traffic_class);
}

TEST_CASE("a tenant keeps its id by whatever way it comes") {
  House house;
  const TenantId direct = house.tenant(kClient, "").id;
  CHECK(house.tenant(kClient, "X-Anything: else\r\n").id == direct);
  CHECK(house.tenant("::ffff:192.0.2.7", "").id == direct);
  CHECK(house.tenant(kProxy, "X-Forwarded-For: 192.0.2.7\r\n").id == direct);
  CHECK(house.tenant(kProxy, "X-Forwarded-For: 10.0.0.9\r\n").id ==
        house.tenant("10.0.0.9", "").id);
  CHECK(house.tenant(kClient, "X-Api-Key: s3cret\r\n").id ==
        house.tenant("203.0.113.9", "X-Api-Key: 0ther\r\n").id);
  CHECK(house.tenant(kProxy, "X-Tenant: t\r\n").id ==
        house.tenant("10.7.7.7", "X-Tenant: t\r\n").id);
}

TEST_CASE("a client's whole network is one tenant and the next network another") {
  House house;
  const Tenant one = house.tenant("2001:db8:1:2::1", "");
  CHECK(one.value() == "2001:db8:1:2::/64");
  CHECK(house.tenant("2001:db8:1:2:ffff:ffff:ffff:ffff", "").id == one.id);
  CHECK(house.tenant("2001:db8:1:3::1", "").id != one.id);
  std::set<TenantId> ids;
  for (int last = 0; last < 256; ++last) {
    ids.insert(house.tenant("192.0.2." + std::to_string(last), "").id);
  }
  CHECK(ids.size() == 256);
}

TEST_CASE("equal names from different sources are different tenants") {
  House house;
  const std::set<TenantId> ids{house.tenant(kClient, "").id,
                               house.tenant(kClient, "X-Api-Key: address\r\n").id,
                               house.tenant(kProxy, "X-Tenant: 192.0.2.7\r\n").id};
  CHECK(house.tenant(kClient, "X-Api-Key: address\r\n").value() == "192.0.2.7");
  CHECK(ids.size() == 3);
}

TEST_CASE("ids depend on the seed so that clients cannot search for collisions") {
  House one(two_keys(), 1);
  House same(two_keys(), 1);
  House other(two_keys(), 2);
  for (const std::string fields : {"", "X-Api-Key: s3cret\r\n", "X-Tenant: t\r\n"}) {
    CHECK(one.tenant(kProxy, fields).id == same.tenant(kProxy, fields).id);
    CHECK(one.tenant(kProxy, fields).id != other.tenant(kProxy, fields).id);
  }
}

TEST_CASE("a tenant can be copied and outlives the peer it was made for") {
  House house;
  Tenant copy;
  {
    const Peer peer = house.resolver.peer(*parse_ip_address("2001:db8:1:2::1"));
    const Tenant first = peer.tenant;
    copy = first;
  }
  CHECK(copy.value() == "2001:db8:1:2::/64");
}
