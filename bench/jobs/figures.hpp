// What is measured of a queue.
#pragma once

#include <optional>
#include <vector>

namespace spillway::job_bench {

struct Figures {
  double per_second = 0;
  double median_ms = 0, p99_ms = 0;
  // Of a proxy, which counts its own commits: jobs of each, and its mean time.
  std::optional<double> jobs_per_commit, commit_ms;
};

// Of `jobs` in `seconds` and the time of each, or of each batch; sorts these.
Figures figures_of(std::vector<double>& times_ms, double seconds, double jobs);

}  // namespace spillway::job_bench
