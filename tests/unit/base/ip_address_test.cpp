#include "base/ip_address.hpp"

#include <doctest/doctest.h>

using namespace spillway;

TEST_CASE("addresses are read strictly") {
  for (const char* text :
       {"0.0.0.0", "255.255.255.255", "::", "::1", "1::", "1:2:3:4:5:6:7:8", "2001:DB8::a",
        "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7::"}) {
    CAPTURE(text);
    CHECK(parse_ip_address(text));
  }
  for (const char* text : {"",
                           "1.2.3",
                           "1.2.3.4.5",
                           "1.2.3.256",
                           "1.2.3.04",
                           "1.2.3.-4",
                           " 1.2.3.4",
                           "1.2.3.4 ",
                           "1..2.3",
                           "1.2.3.4:80",
                           ":",
                           ":::",
                           "1:2",
                           "1:2:3:4:5:6:7:8:9",
                           "1:2:3:4:5:6:7:8::",
                           "1::2::3",
                           "12345::",
                           "g::",
                           "::1.2.3",
                           "1.2.3.4::",
                           "[::1]",
                           "fe80::1%eth0",
                           "1:",
                           ":1",
                           "::1:",
                           "localhost"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_ip_address(text));
  }
}

TEST_CASE("equal addresses have equal bytes however they are written") {
  CHECK(*parse_ip_address("2001:db8::1") == *parse_ip_address("2001:0DB8:0:0:0:0:0:1"));
  CHECK(*parse_ip_address("1.2.3.4") == *parse_ip_address("::ffff:102:304"));
  CHECK(parse_ip_address("1.2.3.4")->is_v4());
  CHECK_FALSE(parse_ip_address("::1.2.3.4")->is_v4());
  CHECK(parse_ip_address("1:2::")->bytes[3] == 2);
  CHECK(parse_ip_address("::1:2")->bytes[15] == 2);
}

TEST_CASE("a block's prefix counts in the family it is written in") {
  IpBlock block;
  CHECK(parse_ip_block("10.1.0.0/15", block).empty());
  CHECK(block.prefix == 96 + 15);
  CHECK(block.contains(*parse_ip_address("10.0.255.1")));
  CHECK_FALSE(block.contains(*parse_ip_address("10.2.0.1")));
  CHECK(parse_ip_block("0.0.0.0/0", block).empty());
  CHECK(block.contains(*parse_ip_address("255.1.1.1")));
  CHECK_FALSE(block.contains(*parse_ip_address("::1")));
  CHECK(parse_ip_block("::/0", block).empty());
  CHECK(block.contains(*parse_ip_address("1.2.3.4")));
  for (const char* text :
       {"1.2.3.4/33", "::/129", "::/", "::/x", "::/08", "::/1 ", "1.2.3/8", "/8"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_ip_block(text, block).empty());
  }
}
