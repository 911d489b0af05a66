// One figure of a contender under one load, over all repetitions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results.hpp"
#include "spread.hpp"

namespace spillway::report {

// What is looked at; "all" classes and no single tenant unless said otherwise.
struct OverloadPlace {
  std::string_view scenario;
  double load = 0;
  std::string_view contender;
  std::string_view cls = "all";
};

// A figure of a cell, or made of several of them.
using OverloadFigure = Figure (*)(const OverloadCell&);

// Cells that failed, or where it was not measured, do not count.
Spread over_repetitions(const std::vector<OverloadCell>& cells, const OverloadPlace& place,
                        OverloadFigure figure);

Figure goodput(const OverloadCell& cell);
Figure success(const OverloadCell& cell);  // a share of what was sent
Figure p50(const OverloadCell& cell);
Figure p99(const OverloadCell& cell);
Figure denial_p99(const OverloadCell& cell);
// Evicted and timed-out waiters as a share of all that were refused.
Figure late_refusals(const OverloadCell& cell);
Figure wasted(const OverloadCell& cell);
Figure recovery(const OverloadCell& cell);
Figure recovered(const OverloadCell& cell);  // 1 or 0, of those with a recovery
Figure jain(const OverloadCell& cell);

// In the order in which they first came; loads in rising order.
std::vector<std::string> scenarios(const std::vector<OverloadCell>& cells);
std::vector<double> loads(const std::vector<OverloadCell>& cells, std::string_view scenario);
std::vector<std::string> contenders(const std::vector<OverloadCell>& cells,
                                    std::string_view scenario);

}  // namespace spillway::report
