#include "bench/jobs/figures.hpp"

#include <algorithm>

namespace spillway::job_bench {

Figures figures_of(std::vector<double>& times_ms, double seconds, double jobs) {
  if (times_ms.empty()) return {};
  std::sort(times_ms.begin(), times_ms.end());
  const std::size_t n = times_ms.size();
  return {.per_second = jobs / seconds,
          .median_ms = times_ms[n / 2],
          .p99_ms = times_ms[n * 99 / 100],
          .jobs_per_commit = std::nullopt,
          .commit_ms = std::nullopt};
}

}  // namespace spillway::job_bench
