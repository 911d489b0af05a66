// Connections on both sides: kept, reused, answered in order, closed when they must be.
#include <doctest/doctest.h>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"

namespace spillway::support {
namespace {

const std::string kHello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

TEST_CASE("requests of one client use one connection to the upstream") {
  ScriptedPeer peer(kHello);
  ProxyUnderTest proxy(peer.address());
  RawClient client(proxy.port());
  for (int i = 0; i < 10; ++i) CHECK(client.ask(get("/")).body == "hello");
  CHECK(peer.seen().connections == 1);
  CHECK(peer.seen().requests == 10);
}

}  // namespace
}  // namespace spillway::support
