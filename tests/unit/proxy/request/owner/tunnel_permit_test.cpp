#include "proxy/request/owner/tunnel_permit.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace spillway::proxy {
namespace {

using observe::TunnelEnd;
using observe::TunnelResult;

std::uint64_t asked(const observe::TunnelCounts& counts, TunnelResult result) {
  return counts.asked[index(result)].value();
}
std::uint64_t ended(const observe::TunnelCounts& counts, TunnelEnd how) {
  return counts.ended[index(how)].value();
}

TEST_CASE("no more places are taken than there are") {
  TunnelPermits places;
  CHECK(places.try_take(2));
  CHECK(places.try_take(2));
  CHECK_FALSE(places.try_take(2));
  CHECK(places.try_take(3));
  CHECK_FALSE(places.try_take(1));
  places.give_back();
  CHECK(places.try_take(3));
  CHECK_FALSE(places.try_take(0));
}

TEST_CASE("a client gets no more places than it leaves to others") {
  TunnelPermits places;
  TunnelPermits::Share &one = places.of(*parse_ip_address("192.0.2.1")),
                       &other = places.of(*parse_ip_address("192.0.2.2"));
  const auto take_all = [&](TunnelPermits::Share& client) {
    int taken = 0;
    while (places.try_take(100, &client)) ++taken;
    return taken;
  };
  CHECK(take_all(one) == 50);
  CHECK(take_all(other) == 25);
  CHECK(places.try_take(100));  // of a trusted peer that names no client
  places.give_back();
  for (int n = 0; n < 50; ++n) places.give_back(&one);
  CHECK(take_all(other) == 25);
  CHECK(take_all(one) == 25);
}

TEST_CASE("of few places a client gets one at least") {
  for (const std::uint32_t most : {1U, 2U, 3U}) {
    TunnelPermits places;
    TunnelPermits::Share& client = places.of(*parse_ip_address("2001:db8::1"));
    CHECK(places.try_take(most, &client));
    CHECK(places.try_take(most, &client) == (most == 3));
  }
}

TEST_CASE("no more places are taken than the connections in force allow") {
  TunnelPermits places;
  places.set_most(1);
  CHECK(places.most(5) == 1);
  CHECK(places.try_take(5));
  CHECK_FALSE(places.try_take(5));
  places.set_most(9);
  CHECK(places.most(5) == 5);
  CHECK(places.try_take(5));
}

TEST_CASE("a place is given back once however often it moves") {
  TunnelPermits places;
  observe::TunnelCounts counts;
  TunnelPermits::Share& client = places.of(*parse_ip_address("192.0.2.1"));
  REQUIRE(places.try_take(1, &client));
  {
    TunnelPermit place(places, counts, &client);
    TunnelPermit moved(std::move(place));
    CHECK_FALSE(place);
    CHECK(moved);
    place = std::move(moved);
    CHECK(places.taken() == 1);
    CHECK(client.taken() == 1);
  }
  CHECK(client.taken() == 0);
  CHECK(places.taken() == 0);
  CHECK(asked(counts, TunnelResult::declined) == 1);
  CHECK(counts.open.value() == 0);
}

TEST_CASE("an open tunnel counts until it ends and then by how it did") {
  TunnelPermits places;
  observe::TunnelCounts counts;
  REQUIRE(places.try_take(9));
  TunnelPermit place(places, counts);
  place.open();
  TunnelPermit moved(std::move(place));
  CHECK(counts.open.value() == 1);
  CHECK(asked(counts, TunnelResult::opened) == 1);
  moved.end(TunnelEnd::idle);
  moved.end(TunnelEnd::broken);
  CHECK(counts.open.value() == 0);
  CHECK(ended(counts, TunnelEnd::idle) == 1);
  CHECK(ended(counts, TunnelEnd::broken) == 0);
  CHECK(asked(counts, TunnelResult::declined) == 0);
  CHECK(places.taken() == 0);
}

TEST_CASE("whoever drops an open tunnel has stopped it") {
  TunnelPermits places;
  observe::TunnelCounts counts;
  REQUIRE(places.try_take(9));
  TunnelPermit place(places, counts);
  place.open();
  place = {};
  CHECK(ended(counts, TunnelEnd::stopped) == 1);
  CHECK(places.taken() == 0);
}

}  // namespace
}  // namespace spillway::proxy
