// How many spare objects of a pool were not needed lately: what a burst has left behind, which can
// be freed. Half of it each time, so that a steady load with pauses frees little that it needs.
#pragma once

#include <algorithm>
#include <cstddef>

namespace spillway::proxy {

class LowWater {
 public:
  // So many are not freed: for peaks that come less often than once in a period.
  static constexpr std::size_t kReserve = 32;

  // After one was taken; `left`: spare ones.
  void took(std::size_t left) { least_ = std::min(least_, left); }
  // How many of the `spare` ones to free now. A period begins.
  std::size_t surplus(std::size_t spare) {
    const std::size_t unused = std::min(least_, spare);
    const std::size_t freed = unused > kReserve ? (unused - kReserve + 1) / 2 : 0;
    least_ = spare - freed;
    return freed;
  }

 private:
  std::size_t least_ = 0;  // spare ones during this period
};

}  // namespace spillway::proxy
