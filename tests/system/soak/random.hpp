// Dice that fall the same way for the same seed, on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>

namespace spillway::soak {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() { return engine_(); }
  // 0 up to, not including, `end`, which is at least 1.
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(engine_() % end); }
  // Both ends included.
  std::size_t between(std::size_t least, std::size_t most) {
    return least + below(most - least + 1);
  }
  bool chance(double probability) {
    return static_cast<double>(engine_() >> 11) * 0x1p-53 < probability;
  }
  template <class T, std::size_t N>
  const T& pick(const std::array<T, N>& from) {
    return from[below(N)];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace spillway::soak
