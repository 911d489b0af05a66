#include "traffic/client/client_address.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace spillway;
using namespace spillway::traffic;

namespace {

IpAddress ip(std::string_view text) {
  const auto address = parse_ip_address(text);
  REQUIRE(address);
  return *address;
}

std::string network(std::string_view text) {
  return std::string(NetworkText(client_network(ip(text)), kOfClient).text());
}

std::string site_of(const std::string& address) {
  return std::string(NetworkText(site_network(ip(address)), kOfSite).text());
}

// The client of a request that came from the trusted 10.0.0.1 with these X-Forwarded-For fields.
std::string client(const std::vector<std::string>& forwarded) {
  static const TrustedPeers trusted({"10.0.0.0/8", "2001:db8:f::/48"});
  http::FieldList fields;
  fields.push({"Host", "a", http::FieldId::host});
  for (const std::string& value : forwarded) {
    fields.push({"x-forwarded-FOR", value, http::FieldId::unknown});
    fields.push({"X-Forwarded-Proto", "http", http::FieldId::unknown});
  }
  const IpAddress found = client_behind(ip("10.0.0.1"), fields, trusted);
  return std::string(NetworkText(client_network(found), kOfClient).text());
}

}  // namespace

TEST_CASE("an IPv4 client is its address and an IPv6 client its network") {
  CHECK(network("192.0.2.7") == "192.0.2.7");
  CHECK(network("0.0.0.0") == "0.0.0.0");
  CHECK(network("255.255.255.255") == "255.255.255.255");
  CHECK(network("::ffff:192.0.2.7") == "192.0.2.7");
  CHECK(network("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64");
  CHECK(network("2001:DB8:1:2::9") == "2001:db8:1:2::/64");
  CHECK(network("2001:db8::1") == "2001:db8::/64");
  CHECK(network("2001:db8:0:1::") == "2001:db8:0:1::/64");
  CHECK(network("::1") == "::/64");
  CHECK(network("0:0:0:1::") == "0:0:0:1::/64");
  CHECK(network("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff") == "ffff:ffff:ffff:ffff::/64");
  CHECK(network("0a:b00::") == "a:b00::/64");
}

TEST_CASE("the network of a client's site is an IPv6 /48, an IPv4 /24") {
  CHECK(site_of("192.0.2.7") == "192.0.2.0/24");
  CHECK(site_of("255.255.255.255") == "255.255.255.0/24");
  CHECK(site_of("::ffff:10.1.2.3") == "10.1.2.0/24");
  CHECK(site_of("2001:db8:1:ff02::5") == "2001:db8:1::/48");
  CHECK(site_of("2001:db8::5") == "2001:db8::/48");
  CHECK(site_of("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff") == "ffff:ffff:ffff::/48");
  CHECK(site_of("0:0:0:1::") == "::/48");
  CHECK(site_of("2001:db8:1:2::5") == site_of("2001:db8:1:3::6"));
  CHECK(site_of("2001:db8:1::") != site_of("2001:db8:2::"));
  CHECK(NetworkText().text().empty());
}

TEST_CASE("the client is the rightmost address that is no trusted peer") {
  CHECK(client({}) == "10.0.0.1");
  CHECK(client({"192.0.2.7"}) == "192.0.2.7");
  CHECK(client({"203.0.113.9, 192.0.2.7"}) == "192.0.2.7");
  CHECK(client({"203.0.113.9,192.0.2.7,10.1.2.3 , 10.9.9.9"}) == "192.0.2.7");
  CHECK(client({"2001:db8:1:2::5, 2001:db8:f::1"}) == "2001:db8:1:2::/64");
  CHECK(client({"::ffff:192.0.2.7, ::ffff:10.0.0.2"}) == "192.0.2.7");
}

TEST_CASE("a chain of trusted proxies alone leads to its first") {
  CHECK(client({"10.0.0.4, 10.0.0.3, 10.0.0.2"}) == "10.0.0.4");
}

TEST_CASE("several fields are one list") {
  CHECK(client({"203.0.113.9, 192.0.2.7", "10.0.0.3"}) == "192.0.2.7");
  CHECK(client({"203.0.113.9", "192.0.2.7", "10.0.0.3, 10.0.0.2"}) == "192.0.2.7");
  CHECK(client({"203.0.113.9", "", " , ,10.0.0.2,"}) == "203.0.113.9");
}

TEST_CASE("a malformed entry ends the walk at the address to its right") {
  for (const std::string wrong :
       {"unknown", "_hidden", "localhost", "192.0.2.7 192.0.2.8", "192.0.2.700", "192.0.2.7:",
        "192.0.2.7:http", "192.0.2.7:123456", "[192.0.2.7]", "[2001:db8::1", "2001:db8::1]",
        "[2001:db8::1]80", "[2001:db8::1]:", "[]", "[", ":", "fe80::1%eth0", "\"192.0.2.7\""}) {
    CAPTURE(wrong);
    CHECK(client({wrong}) == "10.0.0.1");
    CHECK(client({"203.0.113.9, " + wrong}) == "10.0.0.1");
    CHECK(client({"203.0.113.9, " + wrong + ", 10.0.0.3"}) == "10.0.0.3");
    CHECK(client({"203.0.113.9", wrong, "10.0.0.3, 10.0.0.2"}) == "10.0.0.3");
    CHECK(client({wrong + ", 192.0.2.7"}) == "192.0.2.7");
  }
}

TEST_CASE("ports and brackets are left out") {
  CHECK(client({"192.0.2.7:4711"}) == "192.0.2.7");
  CHECK(client({"[2001:db8:1:2::5]"}) == "2001:db8:1:2::/64");
  CHECK(client({"[2001:db8:1:2::5]:4711, 10.0.0.2:80"}) == "2001:db8:1:2::/64");
}
