#include "simulate/series.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spillway::simulate {
namespace {

constexpr double kApart = 10;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Figure>
Values per_second(const Recording& run, Figure figure) {
  Values values;
  values.reserve(run.seconds.size());
  for (const Second& second : run.seconds) values.push_back(static_cast<double>(figure(second)));
  return values;
}

}  // namespace

Values counts(const Recording& run, std::size_t cls, std::uint64_t ClassCounts::*field) {
  return per_second(run, [=](const Second& second) {
    return cls < second.classes.size() ? second.classes[cls].*field : 0;
  });
}

Values queue_depth(const Recording& run) {
  return per_second(run, [](const Second& second) { return second.queued; });
}

Values tail_latency(const Recording& run) {
  return per_second(run, [](const Second& second) {
    return second.p95 > 0 ? second.p95 : std::numeric_limits<double>::quiet_NaN();
  });
}

Values sum(const Values& left, const Values& right) {
  Values values(std::min(left.size(), right.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = left[i] + right[i];
  return values;
}

Extent extent(const std::vector<Values>& runs, double least) {
  double lowest = kInfinity;
  double lowest_peak = kInfinity;
  double highest = 0;
  for (const Values& values : runs) {
    double peak = 0;
    for (const double value : values) {
      if (!(value > 0) || !std::isfinite(value)) continue;
      lowest = std::min(lowest, value);
      peak = std::max(peak, value);
    }
    highest = std::max(highest, peak);
    lowest_peak = std::min(lowest_peak, std::max(peak, least));
  }
  return {.low = std::max(std::min(lowest, highest), least),
          .high = highest,
          .logarithmic = highest > kApart * lowest_peak};
}

}  // namespace spillway::simulate
