#include "proxy/generation/read_configuration.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "support/proxy_under_test.hpp"

namespace spillway::proxy {
namespace {

config::Config with_servers(const std::vector<std::string>& servers) {
  return support::checked({{"upstreams",
                            {{{"name", "one"}, {"servers", {"127.0.0.1:1"}}},
                             {{"name", "two"}, {"servers", servers}}}}});
}

}  // namespace

TEST_CASE("every server is looked up") {
  const ReadConfiguration read =
      resolve_servers(with_servers({"127.0.0.1:2", "localhost:3", "[::1]:4"}));
  REQUIRE(read.config);
  CHECK(read.problems.empty());
  REQUIRE(read.endpoints.size() == 2);
  CHECK(read.endpoints[0].size() == 1);
  REQUIRE(read.endpoints[1].size() == 3);
  CHECK(read.endpoints[1][1].name == "localhost:3");
  CHECK(read.endpoints[1][2].addresses.at(0).address().is_v6());
}

TEST_CASE("all servers without an address are problems with their paths") {
  const ReadConfiguration read =
      resolve_servers(with_servers({"nowhere.invalid:1", "127.0.0.1:2", "nobody.invalid:3"}));
  CHECK_FALSE(read.config);
  REQUIRE(read.problems.size() == 2);
  CHECK(read.problems[0].path == "$.upstreams[1].servers[0]");
  CHECK(read.problems[1].path == "$.upstreams[1].servers[2]");
  CHECK(read.problems[1].message.starts_with("found \"nobody.invalid:3\", which has no address: "));
}

TEST_CASE("a name that turns out to be the listener is a problem") {
  config::Config config = with_servers({"127.0.0.1:2", "localhost:81"});
  config.listen = {.address = "::", .port = 81};
  const ReadConfiguration read = resolve_servers(config);
  REQUIRE(read.problems.size() == 1);
  CHECK(read.problems[0].path == "$.upstreams[1].servers[1]");
  CHECK(read.problems[0].message.find("come back for ever") != std::string::npos);
  config.listen.port = 82;
  CHECK(resolve_servers(config).config);
}

TEST_CASE("each address of a server is a literal one as it was written") {
  const Endpoint v4 = resolve("127.0.0.1:80"), v6 = resolve("[::1]:80");
  REQUIRE(v4.addresses.size() == 1);
  REQUIRE(v6.addresses.size() == 1);
  CHECK(to_text(v4.addresses[0]) == "127.0.0.1:80");
  CHECK(to_text(v6.addresses[0]) == "[::1]:80");
}

TEST_CASE("what cannot be read is a problem whatever is thrown") {
  CHECK(read_configuration({}).problems.at(0).message == "there is no file to read again");
  const ReadConfiguration thrown = read_configuration(
      []() -> config::LoadResult { throw std::runtime_error("the disk is gone"); });
  CHECK_FALSE(thrown.config);
  CHECK(thrown.problems.at(0).message == "the disk is gone");
  const ReadConfiguration bad = read_configuration([] {
    return config::LoadResult{std::nullopt, {{"$.workers", "too many"}}};
  });
  CHECK(bad.problems.at(0).path == "$.workers");
}

}  // namespace spillway::proxy
