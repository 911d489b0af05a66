// What a run says about cost, as text for a terminal and for a report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results.hpp"

namespace spillway::report {

// The tables that matter, as Markdown: CPU per request of each workload beside HAProxy's and the
// aim, latency likewise, then memory and workers. Empty of no cells.
std::string cost_tables(const std::vector<CostCell>& cells);

// Every figure of every contender at every workload, as Markdown.
std::string cost_details(const std::vector<CostCell>& cells);

// A line for each cell that failed, and a warning if others took much of the proxy's core.
std::string cost_remarks(const std::vector<CostCell>& cells);

// Largest ratio to HAProxy that a workload aims at: CPU per request.
double cost_aim(std::string_view workload);

}  // namespace spillway::report
