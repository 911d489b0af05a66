// How fairly something was shared among those who asked for it.
#pragma once

#include <vector>

namespace spillway::simulate {

// Jain's index (Jain, Chiu, Hawe, "A Quantitative Measure of Fairness and Discrimination", DEC
// TR-301, 1984) of what each got relative to its max-min fair share of all that was given out: 1
// when nobody got more at the cost of others, 1/n when one got all. `demand` and `got` are by
// sharer, in one unit, not negative. Who asked for nothing is left out; 1 when nobody is left.
double max_min_fairness(const std::vector<double>& demand, const std::vector<double>& got);

}  // namespace spillway::simulate
