// One axis of a plot: positions of values, ticks, and the texts of ticks.
#pragma once

#include <string>
#include <vector>

namespace spillway::simulate {

// The values of an axis: linear from 0 if `low` is 0, logarithmic if it is positive.
struct Span {
  double low = 0, high = 1;

  bool is_logarithmic() const { return low > 0; }
};

class Axis {
 public:
  // `values.low` is at position `begin`, `values.high` at `end`. An empty or infinite span is
  // replaced by a finite one, so that every position is finite.
  Axis(const Span& values, double begin, double end);

  // Clamped to the axis; NaN is at its beginning.
  double operator()(double value) const;

  // At most `parts` + 1 round values: multiples of 1, 2 or 5 times a power of ten; on a logarithmic
  // axis powers of ten, and possibly none if it spans less than a decade.
  std::vector<double> ticks(int parts) const;

 private:
  Span values_;
  double begin_, end_;
};

std::string count_label(double value);       // "0", "0.5", "250", "1.5k", "3M"
std::string duration_label(double seconds);  // "0", "0.5 ms", "50 ms", "1.5 s"

}  // namespace spillway::simulate
