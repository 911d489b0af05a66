// How many tickets may be made for one address.
#include "proxy/waiting/address_limit.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::proxy;

namespace {

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr double kRate = 10;

IpAddress address(const char* text) { return *parse_ip_address(text); }

int passed(AddressLimit& limit, const char* client, int joins, TimePoint now) {
  int count = 0;
  for (int n = 0; n < joins; ++n) count += limit.take(address(client), kRate, now) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("an address has ten seconds' worth at once, then its rate; others have theirs") {
  AddressLimit limit({1, 2});
  CHECK(passed(limit, "192.0.2.1", 1000, kStart) == 100);
  CHECK(passed(limit, "192.0.2.2", 1000, kStart) == 100);
  for (int second = 1; second <= 5; ++second)
    CHECK(passed(limit, "192.0.2.1", 1000, kStart + std::chrono::seconds(second)) == 10);
}

TEST_CASE("an IPv6 client is its whole /64") {
  AddressLimit limit({1, 2});
  CHECK(passed(limit, "2001:db8:1:2::1", 1000, kStart) == 100);
  CHECK(passed(limit, "2001:db8:1:2:ffff::9", 1000, kStart) == 0);
  CHECK(passed(limit, "2001:db8:1:3::1", 1000, kStart) == 100);
}

TEST_CASE("what made no ticket is given back") {
  AddressLimit limit({1, 2});
  CHECK(passed(limit, "192.0.2.1", 1000, kStart) == 100);
  limit.give_back(address("192.0.2.1"), kRate);
  CHECK(passed(limit, "192.0.2.1", 1000, kStart) == 1);
}
