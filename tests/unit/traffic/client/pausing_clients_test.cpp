#include "traffic/client/pausing_clients.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>

namespace spillway::traffic {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1h};

IpAddress address(std::uint32_t number) {
  IpAddress out = *parse_ip_address("10.0.0.0");
  for (std::size_t n = 0; n < 4; ++n)
    out.bytes[15 - n] = static_cast<std::uint8_t>(number >> (8 * n));
  return out;
}

}  // namespace

TEST_CASE("a client that paused is remembered for ten seconds, and others are not taken for it") {
  const auto clients = std::make_unique<PausingClients>(SipKey{1, 2});
  CHECK_FALSE(clients->is_noted(address(1), kStart));
  clients->note(address(1), kStart);
  CHECK(clients->is_noted(address(1), kStart));
  CHECK(clients->is_noted(address(1), kStart + 9s));
  CHECK_FALSE(clients->is_noted(address(1), kStart + 10s));
  for (std::uint32_t n = 2; n < 50'000; ++n) REQUIRE_FALSE(clients->is_noted(address(n), kStart));
}

TEST_CASE("an IPv6 client is its network") {
  const auto clients = std::make_unique<PausingClients>(SipKey{1, 2});
  clients->note(*parse_ip_address("2001:db8::1"), kStart);
  CHECK(clients->is_noted(*parse_ip_address("2001:db8::ffff:2"), kStart));
  CHECK_FALSE(clients->is_noted(*parse_ip_address("2001:db8:0:1::1"), kStart));
}

TEST_CASE("however many clients pause, no more are remembered than there is room for") {
  const auto clients = std::make_unique<PausingClients>(SipKey{1, 2});
  constexpr std::uint32_t kAll = 3 * PausingClients::kMost;
  for (std::uint32_t n = 0; n < kAll; ++n) clients->note(address(n), kStart);
  CHECK(clients->is_noted(address(kAll - 1), kStart));
  std::size_t noted = 0;
  for (std::uint32_t n = 0; n < kAll; ++n) noted += clients->is_noted(address(n), kStart) ? 1 : 0;
  CHECK(noted <= PausingClients::kMost);
  CHECK(noted > PausingClients::kMost / 2);
}

}  // namespace spillway::traffic
