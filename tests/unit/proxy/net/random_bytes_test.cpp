#include "proxy/net/random_bytes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace spillway::proxy {

TEST_CASE("random bytes fill the whole of what they are asked for") {
  // A byte that stays 0 in all of 64 fillings was not written: by chance once in 2^504.
  std::array<std::uint8_t, 256> seen{};
  for (int n = 0; n < 64; ++n) {
    std::array<std::uint8_t, 256> bytes{};
    REQUIRE(fill_randomly(bytes));
    for (std::size_t i = 0; i < bytes.size(); ++i) seen[i] |= bytes[i];
  }
  CHECK(std::count(seen.begin(), seen.end(), 0) == 0);
}

}  // namespace spillway::proxy
