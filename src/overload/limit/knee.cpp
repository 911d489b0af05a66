#include "overload/limit/knee.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spillway::overload {
namespace {

// How far the knee may move between two measurements. Several unexpected ones in a row mean that it
// moved further: twice as far for each standard deviation of their sum above the usual.
constexpr double kDrift = 0.028;
constexpr double kFarDrift = 0.6;
constexpr double kMemory = 0.85;  // of the sum, from one measurement to the next
constexpr double kUsual = 1.5;
constexpr double kSurprise = 1.5;
// For a guess: the probability that it is right, and of an error in either direction.
constexpr double kGuessed = 0.65;
constexpr double kAbove = 0.25, kBelow = 0.1;
constexpr double kGuessSpread = 0.3;
// Weight of "this measurement is wrong", so that one odd measurement does not exclude a number.
constexpr double kOdd = 0.02;

// The normal distribution function, and roughly its inverse (that of the logistic distribution).
double normal(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
double deviations_of(double probability) { return std::log(probability / (1 - probability)) / 1.7; }
}  // namespace

Knee::Knee(double least, double most)
    : first_(std::log(least)), step_(std::max(1e-6, (std::log(most) - first_) / kCells)) {
  suppose(most, 1);
}

void Knee::suppose(double number, double spread) {
  const double center = std::log(number);
  for (std::size_t i = 0; i < kCells; ++i) {
    const double off = (log_of(i) - center) / spread;
    weights_[i] = std::exp(-off * off / 2) + 1e-6;
  }
  surprise_ = 0;
  normalize();
}

void Knee::suppose_at_least(double number, double most) {
  suppose(number, kGuessSpread);
  const double first = std::log(number), last = std::log(most);
  for (std::size_t i = 0; i < kCells; ++i) {
    weights_[i] *= kGuessed;
    if (log_of(i) < first)
      weights_[i] += kBelow * step_ / std::max(step_, first - first_);
    else if (log_of(i) <= last)
      weights_[i] += kAbove * step_ / std::max(step_, last - first);
  }
  normalize();
}

void Knee::learn(double low, double high, double growth, double deviation) {
  const double from = std::log(low);
  const double width = std::log(high) - from;
  // Beyond the bounds of the model (an upstream that thrashes) a value counts as the bound.
  const double seen = std::clamp(growth, 0.0, width);
  const auto expected_at = [&](std::size_t cell) {
    return std::clamp(log_of(cell) - from, 0.0, width);
  };
  // The probability of a growth of at most this, by the distribution before this measurement.
  double below = 0;
  for (std::size_t i = 0; i < kCells; ++i) {
    below += weights_[i] * normal((seen - expected_at(i)) / deviation);
  }
  surprise_ = kMemory * surprise_ + deviations_of(std::clamp(below, 0.01, 0.99));
  const double unusual = std::max(0.0, std::abs(surprise_) - kUsual);
  blur(std::min(kFarDrift, kDrift * std::exp2(kSurprise * unusual)));
  for (std::size_t i = 0; i < kCells; ++i) {
    const double off = (seen - expected_at(i)) / deviation;
    weights_[i] *= std::exp(-std::min(off * off / 2, 50.0)) + kOdd;
  }
  normalize();
}

// A two-sided exponential, by one pass in each direction.
void Knee::blur(double deviation) {
  const double keep = std::exp(-step_ * std::sqrt(2.0) / deviation);
  std::array<double, kCells> blurred{};
  double carried = 0;
  for (std::size_t i = 0; i < kCells; ++i) {
    carried = carried * keep + weights_[i];
    blurred[i] = carried;
  }
  carried = 0;
  for (std::size_t i = kCells; i-- > 0;) {
    blurred[i] += carried;
    carried = (carried + weights_[i]) * keep;
  }
  weights_ = blurred;
  normalize();
}

void Knee::normalize() {
  const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (double& weight : weights_) weight /= sum;
}

double Knee::quantile(double probability) const {
  double below = 0;
  for (std::size_t i = 0; i < kCells; ++i) {
    if (below + weights_[i] >= probability) {
      const double part = weights_[i] > 0 ? (probability - below) / weights_[i] : 0.5;
      return first_ + (double(i) + part) * step_;
    }
    below += weights_[i];
  }
  return first_ + double(kCells) * step_;
}

}  // namespace spillway::overload
