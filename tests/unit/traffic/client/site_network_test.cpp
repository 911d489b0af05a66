#include "traffic/client/site_network.hpp"

#include <doctest/doctest.h>

#include <string>

namespace spillway::traffic {
namespace {

std::string site_of(const std::string& address) {
  return std::string(SiteNetworkText(site_network(*parse_ip_address(address))).text());
}

}  // namespace

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
  CHECK(SiteNetworkText().text().empty());
}

}  // namespace spillway::traffic
