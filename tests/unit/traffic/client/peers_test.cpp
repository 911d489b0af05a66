#include "traffic/client/peers.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace spillway;
using namespace spillway::traffic;

TEST_CASE("peers are trusted by address and by block") {
  const TrustedPeers peers({"10.0.0.0/8", "192.0.2.7", "2001:db8::/33", "::1"});
  const auto trusts = [&](std::string_view text) {
    return peers.contains(*parse_ip_address(text));
  };
  for (const char* address : {"10.255.0.1", "192.0.2.7", "::ffff:192.0.2.7", "::ffff:10.1.2.3",
                              "2001:db8:7fff::1", "::1"}) {
    CAPTURE(address);
    CHECK(trusts(address));
  }
  for (const char* address : {"11.0.0.1", "192.0.2.8", "2001:db8:8000::1", "::2", "0.0.0.1"}) {
    CAPTURE(address);
    CHECK_FALSE(trusts(address));
  }
  CHECK_FALSE(TrustedPeers({}).contains(*parse_ip_address("127.0.0.1")));
  CHECK_THROWS_AS(TrustedPeers({"localhost"}), std::invalid_argument);
}
