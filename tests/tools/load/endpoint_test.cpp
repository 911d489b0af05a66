#include "bench/load/endpoint.hpp"

#include <doctest/doctest.h>

using spillway::load::parse_endpoint;

TEST_CASE("endpoints are read with or without scheme") {
  const auto full = parse_endpoint("http://127.0.0.1:8080/");
  REQUIRE(full);
  CHECK(full->address().to_string() == "127.0.0.1");
  CHECK(full->port() == 8080);
  CHECK(parse_endpoint("127.0.0.1:0") == boost::asio::ip::tcp::endpoint(full->address(), 0));
  const auto v6 = parse_endpoint("http://[::1]:9090");
  REQUIRE(v6);
  CHECK(v6->address().is_loopback());
}

TEST_CASE("what is not an address and a port is refused") {
  for (const std::string text :
       {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:80x",
        "example.org:80", "::1:80", "[127.0.0.1]:80", "https://127.0.0.1:1",
        "http://127.0.0.1:80/path"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_endpoint(text).has_value());
  }
}
