// What is measured, and what came of it: bench/README.md says what the fields are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "bench/jobs/figures.hpp"

namespace spillway::job_bench {

struct Cell {
  std::string what;  // accept, lease, start, loop, pinned-loop
  std::string contender;
  int round = 1;
  std::size_t outstanding = 0;  // jobs; of a lease those of one claim
  std::uint64_t pending = 0;    // jobs that waited before
  int after_s = 0;              // of a loop: how long it had run
  std::uint64_t lanes = 0;      // over which the jobs are spread, if it is many
};

struct Outcome {
  Figures figures;
  std::optional<double> start_ms;
  std::optional<std::size_t> rss_kib;
  std::string failure;  // why there are no figures
  std::string skipped;  // why it was not tried: a program is not installed
};

// One JSON object and a line feed.
std::string result_line(const Cell& cell, const Outcome& outcome);
// The same for a reader.
std::string result_text(const Cell& cell, const Outcome& outcome);

}  // namespace spillway::job_bench
