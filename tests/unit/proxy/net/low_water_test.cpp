#include "proxy/net/low_water.hpp"

#include <doctest/doctest.h>

#include "proxy/net/block_pool.hpp"

using namespace spillway::proxy;

TEST_CASE("half of what was not needed in a period is surplus, down to a reserve") {
  constexpr std::size_t kReserve = LowWater::kReserve;
  LowWater water;
  std::size_t spare = 100 + kReserve;
  CHECK(water.surplus(spare) == 0);  // what was there before the first period may be needed
  CHECK(water.surplus(spare) == 50);
  spare = 50 + kReserve;
  // Of these 20 are in use at a time.
  water.took(30 + kReserve);
  CHECK(water.surplus(spare) == 15);
  spare -= 15;
  for (int n = 0; n < 10; ++n) {
    water.took(spare - 20);
    spare -= water.surplus(spare);
  }
  CHECK(spare == 20 + kReserve);  // a steady load frees nothing that it needs
  for (int n = 0; n < 10; ++n) spare -= water.surplus(spare);
  CHECK(spare == kReserve);
}

TEST_CASE("a pool frees the blocks of a burst and keeps those in use") {
  BlockPool pool(4096);
  {
    std::vector<Block> burst;
    for (int n = 0; n < 164; ++n) burst.push_back(pool.take());
  }
  std::size_t freed = 0;
  for (int n = 0; n < 20; ++n) {
    const Block used = pool.take();
    freed += pool.trim();
  }
  CHECK(freed == (163 - LowWater::kReserve) * 4096);
}
