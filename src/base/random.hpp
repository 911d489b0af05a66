// A small seedable random source (SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom
// Number Generators", OOPSLA 2014). For sampling, jitter and request ids; not for secrets.
#pragma once

#include <cstdint>

namespace spillway {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace spillway
