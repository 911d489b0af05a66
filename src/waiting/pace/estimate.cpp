#include "waiting/pace/estimate.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::waiting {
namespace {

constexpr double kTenth = -1.2815515655446004;      // normal quantile
constexpr double kLongestWait = 365.0 * 24 * 3600;  // seconds: no page counts further
// Variance of the wait over its square, where hardly anything is known. The approximation of the
// gamma law has no median above 9.
constexpr double kMostVariance = 4;

// Seconds until `calls` tickets have gone; `net`: calls less arrivals that go before, per second.
double wait_for_calls(double calls, double net, double theta) {
  const double seconds = calls / net;
  // Below this, the logarithm and the straight line agree to the millisecond.
  return theta * seconds > 1e-9 ? std::log1p(theta * seconds) / theta : seconds;
}

Milliseconds in_milliseconds(double seconds) {
  return Milliseconds(std::llround(std::min(seconds, kLongestWait) * 1000));
}

// Variance of the wait. With k tickets ahead the noise is dispersion mu + lambda + theta k, and the
// line shrinks by net + theta k: the variance is the integral of noise / down^3 over k.
double variance_of(double calls, double net, const Flow& flow) {
  const double end = net + flow.leaving_per_second * calls;
  const double more = (flow.dispersion - 1) * flow.calls_per_second + 2 * flow.higher_per_second;
  return calls / (net * end) + more * calls * (net + end) / (2 * net * net * end * end);
}

}  // namespace

double gamma_quantile(double shape, double z) {
  const double root = 1 - 1 / (9 * shape) + z / (3 * std::sqrt(shape));
  return shape * std::pow(std::max(root, 0.0), 3);
}

std::optional<Milliseconds> expected_wait(std::size_t ahead, const Flow& flow) {
  const double net = flow.calls_per_second - flow.higher_per_second;
  if (net <= 0) return std::nullopt;
  const double calls = static_cast<double>(ahead) + 1;
  return in_milliseconds(wait_for_calls(calls, net, flow.leaving_per_second));
}

std::optional<Quantiles> wait_quantiles(std::size_t ahead, const Flow& flow) {
  const double net = flow.calls_per_second - flow.higher_per_second;
  if (net <= 0) return std::nullopt;
  const double calls = static_cast<double>(ahead) + 1;
  const double mean = wait_for_calls(calls, net, flow.leaving_per_second);
  double variance = variance_of(calls, net, flow) / (mean * mean);
  const auto learned = [&](double rate, double weight, double dispersion) {
    if (weight > 0) variance += rate * rate / (net * net) * dispersion / weight;
  };
  learned(flow.calls_per_second, flow.weight, flow.dispersion);
  learned(flow.higher_per_second, flow.higher_weight, 1);
  variance = std::min(variance, kMostVariance);
  const auto quantile = [&](double z) { return mean * variance * gamma_quantile(1 / variance, z); };
  return Quantiles{quantile(kTenth) / flow.haste, quantile(0), quantile(-kTenth)};
}

Range widened(const Quantiles& quantiles, double times) {
  const auto side = [&](double quantile) {
    return quantiles.p50 * std::pow(quantile / quantiles.p50, times);
  };
  return {in_milliseconds(side(quantiles.p10)), in_milliseconds(side(quantiles.p90))};
}

}  // namespace spillway::waiting
