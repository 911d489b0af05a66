// What became of one overload scenario, as one SVG: a panel a figure (goodput, success of each
// class, latency of P0 and of denials), loads from left to right at even steps, a line a contender
// through its medians.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results.hpp"

namespace spillway::report {

// Panels of which nothing was measured are left out; empty if all are.
std::string load_plot(const std::vector<OverloadCell>& cells, std::string_view scenario);

}  // namespace spillway::report
