#include "simulate/report/axis.hpp"

#include <algorithm>
#include <cmath>

#include "simulate/recording/figures.hpp"

namespace spillway::simulate {
namespace {

constexpr double kSlack = 1e-9;  // rounding may push a tick just past the end of its axis

bool is_positive(double value) { return value > 0 && std::isfinite(value); }

// The smallest of 1, 2 and 5 times a power of ten that divides `range` into at most `parts` steps.
double round_step(double range, int parts) {
  const double least = range / parts;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double multiple : {1.0, 2.0, 5.0}) {
    if (multiple * power >= least * (1 - kSlack)) return multiple * power;
  }
  return 10 * power;
}

// At most three digits after the decimal point, without trailing zeros.
std::string trimmed(double value) {
  std::string text = fixed(value, 3);
  if (text.find('.') == std::string::npos) return text;
  text.resize(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

Axis::Axis(const Span& values, double begin, double end)
    : values_(values), begin_(begin), end_(end) {
  auto& [low, high] = values_;
  if (!is_positive(low)) low = 0;
  if (!is_positive(high) || high <= low) high = low > 0 ? 10 * low : 1;
}

double Axis::operator()(double value) const {
  if (std::isnan(value)) return begin_;
  const auto [low, high] = values_;
  value = std::clamp(value, low, high);
  const double part = low > 0 ? std::log(value / low) / std::log(high / low) : value / high;
  return begin_ + part * (end_ - begin_);
}

std::vector<double> Axis::ticks(int parts) const {
  parts = std::max(parts, 1);
  const auto [low, high] = values_;
  std::vector<double> ticks;
  if (low > 0) {
    const int first = static_cast<int>(std::ceil(std::log10(low) - kSlack));
    const int last = static_cast<int>(std::floor(std::log10(high) + kSlack));
    const int stride = 1 + std::max(last - first, 0) / (parts + 1);
    for (int power = first; power <= last; power += stride) ticks.push_back(std::pow(10.0, power));
  } else {
    const double step = round_step(high, parts);
    for (int i = 0; i <= parts && i * step <= high * (1 + kSlack); ++i) ticks.push_back(i * step);
  }
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
