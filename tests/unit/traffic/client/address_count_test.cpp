#include "traffic/client/address_count.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace spillway::traffic {
namespace {

using Permit = AddressCount::Permit;

IpAddress ip(const std::string& text) {
  const auto address = parse_ip_address(text);
  REQUIRE(address);
  return *address;
}

IpAddress numbered(std::uint32_t number) {
  IpAddress address = ip("10.0.0.0");
  for (int i = 0; i < 4; ++i)
    address.bytes[static_cast<std::size_t>(15 - i)] = static_cast<std::uint8_t>(number >> (8 * i));
  return address;
}

TEST_CASE("an address has as many connections as it may and one more when one ends") {
  AddressCount count(100, {1, 2});
  std::deque<Permit> permits;
  for (int n = 0; n < 3; ++n) {
    auto permit = count.admit(ip("192.0.2.1"), 3);
    REQUIRE(permit);
    permits.push_back(std::move(*permit));
  }
  CHECK_FALSE(count.admit(ip("192.0.2.1"), 3));
  CHECK(count.admit(ip("192.0.2.2"), 3));  // another one is not concerned
  permits.pop_front();
  const auto again = count.admit(ip("192.0.2.1"), 3);
  CHECK(again);
  CHECK_FALSE(count.admit(ip("192.0.2.1"), 3));
  CHECK(count.admit(ip("192.0.2.1"), 4));  // the cap is that of now
  CHECK_FALSE(count.admit(ip("192.0.2.9"), 0));
}

TEST_CASE("an IPv6 client is its /64 and an IPv4 client is one whatever it comes through") {
  AddressCount count(100, {1, 2});
  const auto first = count.admit(ip("2001:db8:1:2::1"), 1);
  REQUIRE(first);
  CHECK_FALSE(count.admit(ip("2001:db8:1:2:ffff:ffff:ffff:ffff"), 1));
  const auto neighbour = count.admit(ip("2001:db8:1:3::1"), 1);
  CHECK(neighbour);

  const auto v4 = count.admit(ip("192.0.2.1"), 1);
  REQUIRE(v4);
  CHECK_FALSE(count.admit(ip("::ffff:192.0.2.1"), 1));
  CHECK(count.admit(ip("192.0.3.1"), 1));
}

TEST_CASE("entries of addresses without connections are reused for ever") {
  constexpr std::uint32_t kMost = 64;
  AddressCount count(kMost, {3, 4});
  std::deque<Permit> permits;
  for (std::uint32_t n = 0; n < 100'000; ++n) {
    if (permits.size() == kMost) permits.pop_front();
    auto permit = count.admit(numbered(n), 1);
    REQUIRE(permit);
    permits.push_back(std::move(*permit));
  }
  // Every open connection is counted.
  for (std::uint32_t n = 100'000 - kMost; n < 100'000; ++n)
    CHECK_FALSE(count.admit(numbered(n), 1));
}

TEST_CASE("connections beyond the maximum are not counted and do no harm") {
  AddressCount count(1, {3, 4});
  std::deque<Permit> permits;
  for (std::uint32_t n = 0; n < 10; ++n) {
    auto permit = count.admit(numbered(n), 1);
    REQUIRE(permit);
    permits.push_back(std::move(*permit));
  }
  CHECK_FALSE(count.admit(numbered(0), 1));
  CHECK(count.admit(numbered(9), 1));
  permits.clear();
  CHECK(count.admit(numbered(0), 1));
}

TEST_CASE("growing keeps the counts of open connections") {
  AddressCount count(2, {3, 4});
  std::deque<Permit> permits;
  for (std::uint32_t n = 0; n < 2; ++n) permits.push_back(std::move(*count.admit(numbered(n), 1)));
  count.grow(1000);
  count.grow(10);
  for (std::uint32_t n = 2; n < 1000; ++n) {
    auto permit = count.admit(numbered(n), 1);
    REQUIRE(permit);
    permits.push_back(std::move(*permit));
  }
  for (std::uint32_t n = 0; n < 1000; ++n) CHECK_FALSE(count.admit(numbered(n), 1));
  permits.clear();
  for (std::uint32_t n = 0; n < 1000; ++n) CHECK(count.admit(numbered(n), 1));
}

TEST_CASE("a permit outlives the count it belongs to") {
  std::deque<Permit> permits;
  {
    AddressCount count(4, {1, 2});
    auto permit = count.admit(numbered(1), 1);
    REQUIRE(permit);
    permits.push_back(std::move(*permit));
  }
  permits.clear();
}

TEST_CASE("any number of random comings and goings agree with a plain map") {
  std::mt19937 random(7);
  constexpr std::uint32_t kMost = 50;
  AddressCount count(kMost, {5, 6});
  std::map<std::uint32_t, std::uint32_t> expected;
  std::deque<std::pair<std::uint32_t, Permit>> permits;
  for (int step = 0; step < 50'000; ++step) {
    if (permits.size() == kMost || (!permits.empty() && random() % 2 == 0)) {
      --expected[permits.front().first];
      permits.pop_front();
      continue;
    }
    const std::uint32_t client = random() % 40;
    auto permit = count.admit(numbered(client), 3);
    REQUIRE(permit.has_value() == (expected[client] < 3));
    if (!permit) continue;
    ++expected[client];
    permits.emplace_back(client, std::move(*permit));
  }
}

TEST_CASE("permits may be given back by other threads while one admits") {
  constexpr std::uint32_t kMost = 1000;
  AddressCount count(kMost, {5, 6});
  for (int round = 0; round < 20; ++round) {
    std::vector<std::vector<Permit>> shares(3);
    for (std::uint32_t n = 0; n < kMost; ++n) {
      auto permit = count.admit(numbered(n % 100), 10);
      REQUIRE(permit);
      shares[n % shares.size()].push_back(std::move(*permit));
    }
    CHECK_FALSE(count.admit(numbered(5), 10));
    std::vector<std::thread> threads;
    for (auto& share : shares) threads.emplace_back([&share] { share.clear(); });
    for (std::uint32_t n = 0; n < 100; ++n) count.admit(numbered(1000 + n), 10);
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace spillway::traffic
