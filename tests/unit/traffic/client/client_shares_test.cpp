#include "traffic/client/client_shares.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace spillway::traffic {
namespace {

IpAddress ip(const std::string& text) {
  const auto address = parse_ip_address(text);
  REQUIRE(address);
  return *address;
}

}  // namespace

TEST_CASE("what one client has taken is not counted as another's") {
  const auto shares = std::make_unique<ClientShares>(SipKey{1, 2});
  shares->of(ip("192.0.2.1")).add(700);
  shares->of(ip("192.0.2.1")).add(-300);
  CHECK(shares->of(ip("192.0.2.1")).taken() == 400);
  CHECK(shares->of(ip("192.0.2.2")).taken() == 0);
  CHECK(shares->of(ip("::ffff:192.0.2.1")).taken() == 400);  // the same in IPv6
}

TEST_CASE("an IPv6 client is a whole /64") {
  const auto shares = std::make_unique<ClientShares>(SipKey{1, 2});
  shares->of(ip("2001:db8:1:2::3")).add(5);
  CHECK(shares->of(ip("2001:db8:1:2:ffff::1")).taken() == 5);
  CHECK(shares->of(ip("2001:db8:1:3::3")).taken() == 0);
}

TEST_CASE("which clients share a counter depends on the key") {
  int together = 0;
  for (std::uint64_t key = 0; key < 64; ++key) {
    const auto shares = std::make_unique<ClientShares>(SipKey{key, 7});
    for (int n = 1; n < 64; ++n) {
      if (&shares->of(ip("10.0.0." + std::to_string(n))) == &shares->of(ip("10.0.0.0"))) ++together;
    }
  }
  CHECK(together < 8);  // of 4032 pairs one is to be expected
}

}  // namespace spillway::traffic
