// What a run says about overload, as text for a terminal and for a report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results.hpp"

namespace spillway::report {

// What Spillway aims at beside a HAProxy that is tuned with the true capacity, load by load, as a
// Markdown table. Empty without cells of both.
std::string overload_aims(const std::vector<OverloadCell>& cells);

// Every figure of one scenario, a line for each load and contender, as Markdown.
std::string overload_table(const std::vector<OverloadCell>& cells, std::string_view scenario);

// A line for each cell that failed.
std::string overload_remarks(const std::vector<OverloadCell>& cells);

}  // namespace spillway::report
