// Which address of a server's name connections begin with, after a reload.
#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

#include "proxy/generation/generation.hpp"
#include "proxy/generation/read_configuration.hpp"
#include "support/proxy_under_test.hpp"

namespace spillway::proxy {
namespace {

using boost::asio::ip::tcp;

tcp::endpoint address(std::uint16_t port) {
  return {boost::asio::ip::address_v4::loopback(), port};
}

std::shared_ptr<Generation> generation_of(const std::vector<tcp::endpoint>& addresses,
                                          const Generation* former = nullptr) {
  ReadConfiguration read = resolve_servers(
      support::checked({{"upstreams", {{{"name", "app"}, {"servers", {"127.0.0.1:1"}}}}}}));
  REQUIRE(read.config);
  read.endpoints[0][0].addresses = addresses;
  return std::make_shared<Generation>(std::move(*read.config), std::move(read.endpoints),
                                      ProcessContext{}, former);
}

}  // namespace

TEST_CASE("a reload goes on with the address in use, wherever the resolver gives it now") {
  const auto former = generation_of({address(1), address(2), address(3)});
  former->upstreams[0].servers.use_address(0, 1);
  const auto same = generation_of({address(1), address(2), address(3)}, former.get());
  CHECK(same->upstreams[0].servers.address_in_use(0) == 1);
  const auto turned = generation_of({address(2), address(3), address(1)}, former.get());
  CHECK(turned->upstreams[0].servers.address_in_use(0) == 0);
  const auto gone = generation_of({address(3), address(1)}, former.get());
  CHECK(gone->upstreams[0].servers.address_in_use(0) == 0);
}

}  // namespace spillway::proxy
