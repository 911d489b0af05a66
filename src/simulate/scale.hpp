// From values to positions along an axis, and where an axis has its ticks.
#pragma once

#include <string>
#include <vector>

namespace spillway::simulate {

// The smallest of 1, 2 and 5 times a power of ten that divides `range` into at most `parts` whole
// steps; 1 when the range is not positive and finite.
double nice_step(double range, int parts);

class Scale {
 public:
  // From 0 at `begin` to `top` at `end`; a top that is not positive and finite counts as 1.
  static Scale linear(double top, double begin, double end);
  // From `low` at `begin` to `high` at `end`. `low` must be positive and `high` above it;
  // otherwise the scale spans the decade above `low`, or above 1.
  static Scale logarithmic(double low, double high, double begin, double end);

  // Values outside stand at the nearer end, as do the infinities; what is no number at the begin.
  double operator()(double value) const;

  // At most `parts` + 1 round values: even steps from 0, or powers of ten (and twice and five
  // times them, where there is room).
  std::vector<double> ticks(int parts) const;

  double begin() const { return begin_; }
  double end() const { return end_; }
  bool is_logarithmic() const { return low_ > 0; }

 private:
  Scale(double low, double high, double begin, double end)
      : low_(low), high_(high), begin_(begin), end_(end) {}

  double low_;
  double high_;
  double begin_;
  double end_;
};

// Labels of ticks: "0", "0.5", "250", "1.5k", "20k", "3M".
std::string count_label(double value);
// "0", "0.5 ms", "50 ms", "1.5 s", "20 s"
std::string duration_label(double seconds);

}  // namespace spillway::simulate
