// How many requests an upstream can work on at once, as a probability distribution over all numbers
// between two bounds: the knee, up to which its throughput grows with the requests at work.
//
// Model: throughput is proportional to min(requests at work, knee). So two throughputs measured
// under different limits say whether the knee lies below both (they are equal), above both (they
// are in the ratio of the limits), or where in between. Bayes' rule combines such measurements
// according to their noise; the older they are, the less they count.
//
// Pure. Works on natural logarithms; cells are 256 equal parts of the logarithmic range.
#pragma once

#include <array>
#include <cstddef>

namespace spillway::overload {

class Knee {
 public:
  // 0 < least <= most.
  Knee(double least, double most);

  // Forgets all, then assumes a knee around `number`, within a factor of e^spread either way.
  void suppose(double number, double spread);
  // Forgets all: probably about `number`, else rather between it and `most` (> number) than below.
  void suppose_at_least(double number, double most);

  // Two measurements: with `low` and `high` requests at work, low < high, throughput grew by the
  // factor e^growth; `deviation`: the standard deviation of `growth`.
  void learn(double low, double high, double growth, double deviation);

  // The logarithm of the number below which the knee lies with the given probability.
  double quantile(double probability) const;

 private:
  static constexpr std::size_t kCells = 256;

  double log_of(std::size_t cell) const { return first_ + (double(cell) + 0.5) * step_; }
  void blur(double deviation);
  void normalize();

  double first_, step_;  // the logarithm of `least`; the width of a cell
  std::array<double, kCells> weights_{};
  // By how many standard deviations the last measurements differed from the expected ones, a signed
  // sum; older ones count less.
  double surprise_ = 0;
};

}  // namespace spillway::overload
