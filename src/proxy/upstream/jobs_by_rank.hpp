// Counts of an upstream's deferred requests over all workers, by the rank of their route's jobs
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
  std::size_t all() const { return sum(0, by_rank_.size()); }
  // Jobs of this rank and of higher ones, which have lower numbers.
  std::size_t up_to(std::uint8_t rank) const { return sum(0, place(rank) + 1); }
  std::size_t below(std::uint8_t rank) const { return sum(place(rank) + 1, by_rank_.size()); }

 private:
  // The last place is for jobs without a class.
  static std::size_t place(std::uint8_t rank) { return std::min<std::size_t>(rank, kMaxClasses); }
  std::atomic<std::uint32_t>& of(std::uint8_t rank) { return by_rank_[place(rank)]; }
  std::size_t sum(std::size_t first, std::size_t end) const {
    std::size_t sum = 0;
    for (std::size_t n = first; n < end; ++n) sum += by_rank_[n].load(std::memory_order_relaxed);
    return sum;
  }

  std::array<std::atomic<std::uint32_t>, kMaxClasses + 1> by_rank_{};
};

}  // namespace spillway::proxy
