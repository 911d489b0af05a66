// How many spare objects of a pool were not needed lately: the rest of a burst, which can be freed.
// Half of them each time, so that a steady load with pauses frees few that it needs.
#pragma once

#include <algorithm>
#include <cstddef>

namespace spillway::proxy {

class LowWater {
 public:
  // This many are not freed: for peaks that occur less often than once in a period.
  static constexpr std::size_t kReserve = 32;

  // After one was taken; `left`: remaining spare ones.
  void took(std::size_t left) { least_ = std::min(least_, left); }
  // How many of the `spare` ones to free now. A new period begins.
  std::size_t surplus(std::size_t spare) {
    const std::size_t unused = std::min(least_, spare);
    const std::size_t freed = unused > kReserve ? (unused - kReserve + 1) / 2 : 0;
    least_ = spare - freed;
    return freed;
  }

 private:
  std::size_t least_ = 0;  // fewest spare ones during this period
};

}  // namespace spillway::proxy
