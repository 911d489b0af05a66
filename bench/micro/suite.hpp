// The benchmarks of this program and what each is held to.
//
// Each file registers its own by a function listed here. A benchmark prepares, measures, and then
// makes sure that it measured what its name says: if not it fails, and so does the program.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace spillway::micro {

class Suite {
 public:
  // `target`: nanoseconds that one iteration may take; nullopt: not held to anything.
  template <class Body>
  benchmark::internal::Benchmark* add(const std::string& name, std::optional<double> target,
                                      Body body) {
    targets_.emplace(name, target);
    return benchmark::RegisterBenchmark(name.c_str(), std::move(body));
  }

  std::optional<double> target(const std::string& name) const {
    const auto found = targets_.find(name);
    return found == targets_.end() ? std::nullopt : found->second;
  }

 private:
  std::map<std::string, std::optional<double>> targets_;
};

void add_decide(Suite& suite);
void add_tenants(Suite& suite);
void add_gate(Suite& suite);
void add_scheduler(Suite& suite);
void add_classify(Suite& suite);
void add_quantile(Suite& suite);
void add_cache(Suite& suite);
void add_waiting(Suite& suite);

// "10", "10^4": how sizes are written in names.
std::string size_name(std::size_t size);

}  // namespace spillway::micro
