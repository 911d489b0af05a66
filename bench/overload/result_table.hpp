// Results as text: a table for each scenario and load, a row for each contender.
#pragma once

#include <span>
#include <string>

#include "bench/overload/result.hpp"

namespace spillway::bench {

// Of several repetitions the medians; of a single one with its error at 95 % confidence, from the
// counts. Failures are named below.
std::string result_tables(std::span<const Result> results);

}  // namespace spillway::bench
