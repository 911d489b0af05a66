// What a run measured: its result lines, whose fields bench/README.md describes, as values.
#pragma once

#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spillway::report {

using Figure = std::optional<double>;  // nullopt: not measured

struct Run {
  std::string date;
  std::string commit;  // ends in "+" if files differed from it
  bool quick = false;
  std::string cpu;
  int cores = 0;
  std::string kernel;
  std::string congestion_control;  // of TCP; empty: not said
  Figure load_average;
  std::map<std::string, std::string> versions;
};

struct CostCell {
  std::string workload;
  std::string contender;
  int round = 0;
  std::string failure;  // not empty: no figures
  int connections = 0;
  int workers = 0;
  Figure seconds, requests, cpu_us, user_us, system_us, rps, p50_ms, p99_ms, rss_kib, idle_kib,
      foreign;
};

struct OverloadCell {
  std::string scenario;
  double load = 0;  // offered / capacity
  std::string contender;
  int repetition = 0;
  std::string cls;     // "P0", "P1", "P2" or "all"
  std::string tenant;  // empty: all tenants
  std::string failure;
  Figure capacity_rps, offered, sent, succeeded, p50_ms, p99_ms, denied, denied_on_arrival_p99_ms,
      evicted, timed_out, goodput_ratio, wasted_ratio, recovery_s, jain;
  bool recovered = true;  // false: recovery_s ended with the cell, and it had not recovered
};

// What one run measured, the cost or some scenarios: a part of a report.
struct Results {
  Run run;
  std::vector<CostCell> cost;
  std::vector<OverloadCell> overload;
};

// One JSON object a line; fields that are unknown are passed over, and so are empty lines. Throws
// std::runtime_error that names the line: for what is no such object, an unknown suite, a field of
// another type, a cell without its names, and a second run, since figures of two runs do not
// compare.
Results read_results(std::istream& lines);

// Throws std::runtime_error if two parts have measured the same.
void check_apart(const std::vector<Results>& parts);

}  // namespace spillway::report
