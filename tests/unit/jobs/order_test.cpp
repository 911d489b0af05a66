#include "jobs/order.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace spillway::jobs;

TEST_CASE("orders of verified tenants are told apart by route, tenant and value") {
  const std::set<Digest> orders{order_of("7"),
                                order_of("8"),
                                order_of("mail", "acme", "7"),
                                order_of("mail", "acme", "8"),
                                order_of("mail", "initech", "7"),
                                order_of("export", "acme", "7"),
                                order_of("ma", "ilacme", "7"),
                                order_of("mail", "acm", "e7"),
                                order_of("mail", "", "acme7")};
  CHECK(orders.size() == 9);
  CHECK(order_of("mail", "acme", "7") == order_of("mail", "acme", "7"));
}

// 16 bytes of its SHA-256 (FIPS 180-4), as earlier versions have stored it.
TEST_CASE("the order of a value alone is what stores have of earlier versions") {
  CHECK(order_of("abc") == Digest{0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
                                  0xde, 0x5d, 0xae, 0x22, 0x23});
}

TEST_CASE("no value of a field is hashed as the order of a verified tenant is") {
  const std::string text = "\n4:mail\n4:acme\n1:7";
  CHECK(order_of(text) == order_of("mail", "acme", "7"));  // the control: with lines' ends it is
  std::string as_field = text;
  for (char& c : as_field)
    if (c == '\n') c = ' ';
  CHECK(order_of(as_field) != order_of("mail", "acme", "7"));
}
