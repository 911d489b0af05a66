// A figure of each workload relative to HAProxy's, as one SVG: a row a workload, a mark a contender
// at its median with a line from its lowest to its highest round, HAProxy itself the line at 1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cost_figures.hpp"

namespace spillway::report {

// Workloads without any such ratio are left out; empty if all are. What lies beyond 2.5 stands
// there.
std::string ratio_plot(const std::vector<CostCell>& cells, CostFigure figure,
                       std::string_view title);

}  // namespace spillway::report
