#include "cache/store/ghost.hpp"

#include <doctest/doctest.h>

#include "cache/store/stamps.hpp"

namespace spillway::cache {
namespace {

std::uint64_t hash(std::uint64_t n) { return (n + 1) * 0x9e3779b97f4a7c15u; }

}  // namespace

TEST_CASE("a key is remembered until so many bytes have left after it") {
  Ghost ghost(4096, 100000);
  CHECK_FALSE(ghost.contains(hash(1)));
  ghost.add(hash(1), 1000);
  ghost.add(hash(2), 50000);
  CHECK(ghost.contains(hash(1)));
  CHECK_FALSE(ghost.contains(hash(3)));
  ghost.add(hash(3), 49000);
  CHECK(ghost.contains(hash(1)));
  ghost.add(hash(4), 2000);
  CHECK_FALSE(ghost.contains(hash(1)));
  CHECK(ghost.contains(hash(2)));
  ghost.forget(hash(2));
  CHECK_FALSE(ghost.contains(hash(2)));
  ghost.forget(hash(2));
  CHECK(ghost.contains(hash(3)));
}

TEST_CASE("most of as many keys as there is room for are remembered and the latest before others") {
  Ghost ghost(4096, 1 << 30);
  for (std::uint64_t n = 0; n < 8192; ++n) ghost.add(hash(n), 256);
  std::size_t early = 0;
  std::size_t late = 0;
  for (std::uint64_t n = 0; n < 4096; ++n) {
    early += ghost.contains(hash(n));
    late += ghost.contains(hash(4096 + n));
  }
  CHECK(late > 3300);
  CHECK(early < 800);
}

TEST_CASE("a stamp ends what was asked for until then") {
  Stamps stamps(64);
  const TimePoint now = TimePoint{} + std::chrono::hours(1);
  CHECK_FALSE(stamps.has_ended(1, TimePoint{}));
  stamps.end(1, now);
  CHECK(stamps.has_ended(1, now));
  CHECK_FALSE(stamps.has_ended(1, now + Duration(1)));
  stamps.end(1, now - Duration(5));
  CHECK(stamps.has_ended(1, now));
  CHECK_FALSE(stamps.has_ended(0x100, now));
}

}  // namespace spillway::cache
