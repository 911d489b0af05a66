#include "traffic/address_count.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace spillway::traffic {
namespace {

using Place = AddressCount::Place;

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
  std::deque<Place> places;
  for (int n = 0; n < 3; ++n) {
    auto place = count.admit(ip("192.0.2.1"), 3);
    REQUIRE(place);
    places.push_back(std::move(*place));
  }
  CHECK_FALSE(count.admit(ip("192.0.2.1"), 3));
  CHECK(count.admit(ip("192.0.2.2"), 3));  // another one is not concerned
  places.pop_front();
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

TEST_CASE("addresses that left make room for others for ever") {
  constexpr std::uint32_t kMost = 64;
  AddressCount count(kMost, {3, 4});
  std::deque<Place> places;
  for (std::uint32_t n = 0; n < 100'000; ++n) {
    if (places.size() == kMost) places.pop_front();
    auto place = count.admit(numbered(n), 1);
    REQUIRE(place);
    places.push_back(std::move(*place));
    REQUIRE(count.remembered() <= kMost + kMost / 4 + 1);
  }
  // Those who are there are known, every one of them.
  for (std::uint32_t n = 100'000 - kMost; n < 100'000; ++n)
    CHECK_FALSE(count.admit(numbered(n), 1));
}

TEST_CASE("connections beyond the most count nowhere and do no harm") {
  AddressCount count(1, {3, 4});
  std::deque<Place> places;
  for (std::uint32_t n = 0; n < 10; ++n) {
    auto place = count.admit(numbered(n), 1);
    REQUIRE(place);
    places.push_back(std::move(*place));
  }
  CHECK_FALSE(count.admit(numbered(0), 1));
  CHECK(count.admit(numbered(9), 1));
  places.clear();
  CHECK(count.admit(numbered(0), 1));
}

TEST_CASE("more room keeps those who are there") {
  AddressCount count(2, {3, 4});
  std::deque<Place> places;
  for (std::uint32_t n = 0; n < 2; ++n) places.push_back(std::move(*count.admit(numbered(n), 1)));
  count.grow(1000);
  count.grow(10);
  for (std::uint32_t n = 2; n < 1000; ++n) {
    auto place = count.admit(numbered(n), 1);
    REQUIRE(place);
    places.push_back(std::move(*place));
  }
  for (std::uint32_t n = 0; n < 1000; ++n) CHECK_FALSE(count.admit(numbered(n), 1));
  CHECK(count.remembered() == 1000);
  places.clear();
  for (std::uint32_t n = 0; n < 1000; ++n) CHECK(count.admit(numbered(n), 1));
}

TEST_CASE("a place outlives the count it belongs to") {
  std::deque<Place> places;
  {
    AddressCount count(4, {1, 2});
    auto place = count.admit(numbered(1), 1);
    REQUIRE(place);
    places.push_back(std::move(*place));
  }
  places.clear();
}

TEST_CASE("any number of random comings and goings agree with a plain map") {
  std::mt19937 random(7);
  constexpr std::uint32_t kMost = 50;
  AddressCount count(kMost, {5, 6});
  std::map<std::uint32_t, std::uint32_t> expected;
  std::deque<std::pair<std::uint32_t, Place>> places;
  for (int step = 0; step < 50'000; ++step) {
    if (places.size() == kMost || (!places.empty() && random() % 2 == 0)) {
      --expected[places.front().first];
      places.pop_front();
      continue;
    }
    const std::uint32_t client = random() % 40;
    auto place = count.admit(numbered(client), 3);
    REQUIRE(place.has_value() == (expected[client] < 3));
    if (!place) continue;
    ++expected[client];
    places.emplace_back(client, std::move(*place));
  }
}

TEST_CASE("places may be given back by other threads while one admits") {
  constexpr std::uint32_t kMost = 1000;
  AddressCount count(kMost, {5, 6});
  for (int round = 0; round < 20; ++round) {
    std::vector<std::vector<Place>> shares(3);
    for (std::uint32_t n = 0; n < kMost; ++n) {
      auto place = count.admit(numbered(n % 100), 10);
      REQUIRE(place);
      shares[n % shares.size()].push_back(std::move(*place));
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
