// A queue that jobs are put into: what is compared.
#pragma once

#include <chrono>
#include <cstddef>

#include "bench/jobs/figures.hpp"

namespace spillway::job_bench {

inline constexpr std::size_t kJobBytes = 1024;

class Queue {
 public:
  virtual ~Queue() = default;

  // Puts jobs of about 1 KiB into a new, empty queue, in a closed loop, `outstanding` of them at
  // any time; each counts once it is acknowledged, and its time is that from being sent to that.
  // Throws std::runtime_error if one is not acknowledged.
  virtual Figures accept(std::size_t outstanding, std::chrono::milliseconds time) = 0;
};

}  // namespace spillway::job_bench
