// A seed for random generators, from the system's entropy.
#pragma once

#include <cstdint>
#include <random>

namespace spillway::proxy {

inline std::uint64_t random_seed() {
  std::random_device entropy;
  return (std::uint64_t{entropy()} << 32) | entropy();
}

}  // namespace spillway::proxy
