// One figure of a contender at a workload, over all rounds; and beside another contender's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results.hpp"
#include "spread.hpp"

namespace spillway::report {

using CostFigure = Figure CostCell::*;

// Cells that failed, or where it was not measured, do not count.
Spread over_rounds(const std::vector<CostCell>& cells, std::string_view workload,
                   std::string_view contender, CostFigure figure);

// Round by round this contender's figure divided by the other's of the same round, so that a
// machine that gets slower meanwhile cancels out. Rounds in which either is missing, or the other's
// is zero, do not count.
Spread ratio_to(const std::vector<CostCell>& cells, std::string_view workload,
                std::string_view contender, std::string_view other, CostFigure figure);

// The same of one contender at two workloads.
Spread ratio_of_workloads(const std::vector<CostCell>& cells, std::string_view contender,
                          std::string_view workload, std::string_view other, CostFigure figure);

// In the order in which they first came.
std::vector<std::string> workloads(const std::vector<CostCell>& cells);
std::vector<std::string> contenders(const std::vector<CostCell>& cells);

// The largest, 0 of none.
int rounds(const std::vector<CostCell>& cells);

}  // namespace spillway::report
