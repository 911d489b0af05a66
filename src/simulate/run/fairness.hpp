// How fairly a resource was shared.
#pragma once

#include <vector>

namespace spillway::simulate {

// Jain's index (Jain, Chiu, Hawe, "A Quantitative Measure of Fairness and Discrimination", DEC
// TR-301, 1984) of each sharer's part relative to its max-min fair share of the total granted: 1 is
// fair, 1/n means that one of n got all. `demand` and `got` are by sharer, in one unit, not
// negative; `weight`, above 0: in the fair share; empty: all are equal. Sharers without demand are
// left out; 1 if none remains.
double max_min_fairness(const std::vector<double>& demand, const std::vector<double>& got,
                        const std::vector<double>& weight = {});

}  // namespace spillway::simulate
