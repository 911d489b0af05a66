// Prints each benchmark as a line of the table as soon as its repetitions are done.
#pragma once

#include <benchmark/benchmark.h>

#include <vector>

#include "suite.hpp"

namespace spillway::micro {

// Times are CPU time of one iteration, so that other work on the machine counts little; those of
// benchmarks with several threads are the wall time of one thread's iteration, waiting included.
class Reporter : public benchmark::BenchmarkReporter {
 public:
  explicit Reporter(const Suite& suite) : suite_(suite) {}

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;

  bool failed() const { return failed_; }

 private:
  const Suite& suite_;
  bool failed_ = false;
};

}  // namespace spillway::micro
