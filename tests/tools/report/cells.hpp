// Made-up cells for tests.
#pragma once

#include <string>
#include <vector>

#include "results.hpp"

namespace spillway::report {

// A cell per round with this CPU, and p99 and RSS as many times that.
inline std::vector<CostCell> cost_cells(const std::string& workload, const std::string& contender,
                                        const std::vector<double>& cpu_us) {
  std::vector<CostCell> cells;
  for (const double cpu : cpu_us) {
    CostCell cell;
    cell.workload = workload;
    cell.contender = contender;
    cell.round = static_cast<int>(cells.size()) + 1;
    cell.connections = 64;
    cell.workers = 1;
    cell.cpu_us = cpu;
    cell.rps = 1e6 / cpu;
    cell.p50_ms = cpu / 10;
    cell.p99_ms = cpu / 2;
    cell.rss_kib = 1000 * cpu;
    cells.push_back(cell);
  }
  return cells;
}

inline void add(std::vector<CostCell>& cells, const std::vector<CostCell>& more) {
  cells.insert(cells.end(), more.begin(), more.end());
}

inline OverloadCell overload_cell(const std::string& contender, double load, const std::string& cls,
                                  double success) {
  OverloadCell cell;
  cell.scenario = "capacity-known";
  cell.load = load;
  cell.contender = contender;
  cell.repetition = 1;
  cell.cls = cls;
  cell.sent = 1000;
  cell.succeeded = 1000 * success;
  cell.p50_ms = 20;
  cell.p99_ms = 60;
  return cell;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The first line of a text that has this in it, or nothing.
inline std::string line_with(const std::string& text, const std::string& part) {
  const auto at = text.find(part);
  if (at == std::string::npos) return "";
  const auto begin = text.rfind('\n', at);
  const auto from = begin == std::string::npos ? 0 : begin + 1;
  return text.substr(from, text.find('\n', at) - from);
}

}  // namespace spillway::report
