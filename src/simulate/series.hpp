// A recording as series of numbers, a value per second, and the extent of an axis that shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulate/recording.hpp"

namespace spillway::simulate {

using Values = std::vector<double>;

// One field of a class, zero in seconds that do not know the class.
Values counts(const Recording& run, std::size_t cls, std::uint64_t ClassCounts::*field);
Values queue_depth(const Recording& run);
// In seconds; not a number where nothing was answered.
Values tail_latency(const Recording& run);

// Second by second; as long as the shorter.
Values sum(const Values& left, const Values& right);

// What an axis has to span so that several runs can be compared on it.
struct Extent {
  double low = 0;   // of a logarithmic axis: above zero
  double high = 0;  // the highest value of all
  bool logarithmic = false;
};

// Logarithmic where the runs' highest values lie more than ten times apart. `least` is the smallest
// value worth telling from nothing: below it no logarithmic axis begins.
Extent extent(const std::vector<Values>& runs, double least);

}  // namespace spillway::simulate
