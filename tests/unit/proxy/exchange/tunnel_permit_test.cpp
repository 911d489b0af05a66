#include "proxy/exchange/tunnel_permit.hpp"

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

TEST_CASE("a place is given back once however often it moves") {
  TunnelPermits places;
  observe::TunnelCounts counts;
  REQUIRE(places.try_take(1));
  {
    TunnelPermit place(places, counts);
    TunnelPermit moved(std::move(place));
    CHECK_FALSE(place);
    CHECK(moved);
    place = std::move(moved);
    CHECK(places.taken() == 1);
  }
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
