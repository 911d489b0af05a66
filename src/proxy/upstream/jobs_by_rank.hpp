// Deferred requests of an upstream that workers count, by the rank of their route's jobs
// (jobs::rank_of). Thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/ids.hpp"

namespace spillway::proxy {

class JobsByRank {
 public:
  void begin(std::uint8_t rank) { of(rank).fetch_add(1, std::memory_order_relaxed); }
  void end(std::uint8_t rank) { of(rank).fetch_sub(1, std::memory_order_relaxed); }
  std::size_t all() const { return sum_from(0); }
  // Those of lower ranks, which have higher numbers.
  std::size_t below(std::uint8_t rank) const { return sum_from(place(rank) + 1); }

 private:
  // The last place is that of jobs without a class.
  static std::size_t place(std::uint8_t rank) { return std::min<std::size_t>(rank, kMaxClasses); }
  std::atomic<std::uint32_t>& of(std::uint8_t rank) { return by_rank_[place(rank)]; }
  std::size_t sum_from(std::size_t first) const {
    std::size_t sum = 0;
    for (std::size_t n = first; n < by_rank_.size(); ++n)
      sum += by_rank_[n].load(std::memory_order_relaxed);
    return sum;
  }

  std::array<std::atomic<std::uint32_t>, kMaxClasses + 1> by_rank_{};
};

}  // namespace spillway::proxy
