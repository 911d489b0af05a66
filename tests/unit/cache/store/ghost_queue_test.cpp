#include "cache/store/ghost_queue.hpp"

#include <doctest/doctest.h>

namespace spillway::cache {
namespace {

std::uint64_t hash(std::uint64_t n) { return (n + 1) * 0x9e3779b97f4a7c15u; }

}  // namespace

TEST_CASE("a key is remembered until so many bytes have left after it, and taken once") {
  GhostQueue ghost(4096, 100000);
  CHECK_FALSE(ghost.take(hash(1)));
  ghost.add(hash(1), 1000);
  ghost.add(hash(2), 50000);
  ghost.add(hash(3), 49000);
  SUBCASE("up to the limit") { CHECK(ghost.take(hash(1))); }
  SUBCASE("not beyond it") {
    ghost.add(hash(4), 2000);
    CHECK_FALSE(ghost.take(hash(1)));
  }
  CHECK_FALSE(ghost.take(hash(5)));
  CHECK(ghost.take(hash(2)));
  CHECK_FALSE(ghost.take(hash(2)));
  CHECK(ghost.take(hash(3)));
}

TEST_CASE("a full table remembers the latest keys before others") {
  GhostQueue ghost(4096, 1 << 30);
  for (std::uint64_t n = 0; n < 8192; ++n) ghost.add(hash(n), 256);
  std::size_t early = 0;
  std::size_t late = 0;
  for (std::uint64_t n = 0; n < 4096; ++n) {
    early += ghost.take(hash(n));
    late += ghost.take(hash(4096 + n));
  }
  CHECK(late > 3300);
  CHECK(early < 800);
}

}  // namespace spillway::cache
