// What is measured of the contenders, in rounds: all of them, then all again, so that a machine
// that gets slower gets slower for all.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/jobs/cell.hpp"
#include "bench/jobs/proxy.hpp"

namespace spillway::job_bench {

// accept: jobs put into an empty queue. depth: jobs claimed, settled and put in among ever more
// that wait, and spread over many lanes, and the start of the proxy among them; of Spillway's
// stores. loop: jobs put in, claimed and settled for a time, also while a transaction holds a
// snapshot; of PostgreSQL.
inline const std::vector<std::string> kSuites{"accept", "depth", "loop"};

struct Plan {
  Programs programs;
  std::vector<std::string> suites, contenders;  // names, in this order
  std::vector<std::size_t> outstanding;
  int rounds = 3;
  std::chrono::milliseconds time{4000};    // of a figure
  std::chrono::seconds window{10};         // of each of four figures of a loop
  std::uint64_t most_pending = 1'000'000;  // of depth; the others are none and a tenth
  std::uint64_t lanes = 100'000;  // of depth, over which as many are spread; 0: not measured
};

using Record = std::function<void(const Cell&, const Outcome&)>;

// `is_stopped` is asked between two figures. What cannot be measured is recorded as a failure.
void play(const Plan& plan, const Record& record, bool (*is_stopped)());

}  // namespace spillway::job_bench
