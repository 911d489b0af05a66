// How many requests at once an upstream can work on, as a probability over all numbers between two
// bounds: the knee, up to which its throughput grows with the requests at work.
//
// Model: throughput is proportional to min(requests at work, knee). So two throughputs measured
// under different limits say whether the knee lies below both (they are equal), above both (they
// are as the limits), or where in between. Bayes' rule puts such measurements together according to
// their noise; the older they are, the less they count.
//
// Pure. Numbers are handled as natural logarithms; cells are 256 equal parts of the range.
#pragma once

#include <array>
#include <cstddef>

namespace spillway::overload {

class Knee {
 public:
  // 0 < least <= most.
  Knee(double least, double most);

  // Forgets all: around `number`, a factor of e^spread off in either direction.
  void suppose(double number, double spread);
  // Forgets all: probably about `number`, else rather between it and `most`, > number, than below.
  void suppose_at_least(double number, double most);

  // Two measurements: with `low` and `high` requests at work, low < high, throughput grew by the
  // factor e^growth; `deviation`: the standard deviation of `growth`.
  void learn(double low, double high, double growth, double deviation);

  // The logarithm of the number below which the knee lies with this probability.
  double quantile(double probability) const;

 private:
  static constexpr std::size_t kCells = 256;

  double log_of(std::size_t cell) const { return first_ + (double(cell) + 0.5) * step_; }
  void blur(double deviation);
  void normalize();

  double first_, step_;  // the logarithm of `least`; the width of a cell
  std::array<double, kCells> weights_{};
  // By how many standard deviations the last measurements missed what was expected, summed with
  // their signs; the older ones count less.
  double surprise_ = 0;
};

}  // namespace spillway::overload
