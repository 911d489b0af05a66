#include "simulate/scale.hpp"

#include <algorithm>
#include <cmath>

#include "simulate/figures.hpp"

namespace spillway::simulate {
namespace {

// Rounding may push a multiple of a step just past the end that it should meet.
constexpr double kSlack = 1e-9;

// Without the zeros after the point, to three digits after it.
std::string trimmed(double value) {
  std::string text = fixed(value, 3);
  if (text.find('.') == std::string::npos) return text;
  text.resize(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Every `stride`-th power of ten from `low` to `high`, each times the multiples.
std::vector<double> logarithmic_ticks(double low, double high, const std::vector<double>& multiples,
                                      int stride) {
  std::vector<double> ticks;
  const int last = static_cast<int>(std::floor(std::log10(high) + kSlack));
  for (int power = static_cast<int>(std::floor(std::log10(low) + kSlack)); power <= last;
       power += stride) {
    for (const double multiple : multiples) {
      const double tick = multiple * std::pow(10.0, power);
      if (tick >= low * (1 - kSlack) && tick <= high * (1 + kSlack)) ticks.push_back(tick);
    }
  }
  return ticks;
}

}  // namespace

double nice_step(double range, int parts) {
  if (!(range > 0) || !std::isfinite(range) || parts < 1) return 1;
  const double least = range / parts;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double multiple : {1.0, 2.0, 5.0}) {
    if (multiple * power >= least * (1 - kSlack)) return multiple * power;
  }
  return 10 * power;
}

Scale Scale::linear(double top, double begin, double end) {
  return {0, top > 0 && std::isfinite(top) ? top : 1, begin, end};
}

Scale Scale::logarithmic(double low, double high, double begin, double end) {
  if (!(low > 0) || !std::isfinite(low)) low = 1;
  if (!(high > low) || !std::isfinite(high)) high = 10 * low;
  return {low, high, begin, end};
}

double Scale::operator()(double value) const {
  if (std::isnan(value)) return begin_;
  value = std::clamp(value, low_, high_);
  const double part =
      is_logarithmic() ? std::log(value / low_) / std::log(high_ / low_) : value / high_;
  return begin_ + part * (end_ - begin_);
}

std::vector<double> Scale::ticks(int parts) const {
  parts = std::max(parts, 1);
  std::vector<double> ticks;
  if (is_logarithmic()) {
    ticks = logarithmic_ticks(low_, high_, {1, 2, 5}, 1);
    for (int stride = 1; static_cast<int>(ticks.size()) > parts + 1; ++stride) {
      ticks = logarithmic_ticks(low_, high_, {1}, stride);
    }
    return ticks;
  }
  const double step = nice_step(high_, parts);
  for (int i = 0; i <= parts && i * step <= high_ * (1 + kSlack); ++i) ticks.push_back(i * step);
  return ticks;
}

std::string count_label(double value) {
  if (value >= 1e6) return trimmed(value / 1e6) + 'M';
  if (value >= 1e3) return trimmed(value / 1e3) + 'k';
  return trimmed(value);
}

std::string duration_label(double seconds) {
  if (seconds <= 0) return "0";
  return seconds < 1 ? trimmed(seconds * 1e3) + " ms" : trimmed(seconds) + " s";
}

}  // namespace spillway::simulate
