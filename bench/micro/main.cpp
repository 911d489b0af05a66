// spillway-bench-micro: what the parts of a decision cost, beside what they may cost.
//
// Takes the options of Google Benchmark (--benchmark_filter, --benchmark_repetitions, ...). Exit
// status 1 if a benchmark did not measure what it should have, 2 for bad usage. A figure over its
// target is printed as such and is no failure: machines differ.
#include <benchmark/benchmark.h>

#include <iostream>

#include "memory.hpp"
#include "reporter.hpp"
#include "suite.hpp"

int main(int argc, char** argv) {
  using namespace spillway::micro;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;

  Suite suite;
  add_decide(suite);
  add_tenants(suite);
  add_classify(suite);
  add_gate(suite);
  add_scheduler(suite);
  add_quantile(suite);
  add_cache(suite);
  add_waiting(suite);

  Reporter reporter(suite);
  if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0) return 2;
  std::cout << '\n';
  print_sizes(std::cout);
  return reporter.failed() ? 1 : 0;
}
