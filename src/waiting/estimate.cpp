#include "waiting/estimate.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::waiting {
namespace {

constexpr double kTenth = -1.2815515655446004;      // normal quantile
constexpr double kLongestWait = 365.0 * 24 * 3600;  // seconds: no page counts further

Milliseconds wait_for_calls(double calls, const Flow& flow) {
  const double theta = flow.leaving_per_second;
  double seconds = calls / flow.calls_per_second;
  // Below this, the logarithm and the straight line are the same to the millisecond.
  if (theta * seconds > 1e-9) seconds = std::log1p(theta * seconds) / theta;
  return Milliseconds(std::llround(std::min(seconds, kLongestWait) * 1000));
}

}  // namespace

double gamma_quantile(double shape, double z) {
  const double root = 1 - 1 / (9 * shape) + z / (3 * std::sqrt(shape));
  return shape * std::pow(std::max(root, 0.0), 3);
}

Milliseconds expected_wait(std::size_t ahead, const Flow& flow) {
  return wait_for_calls(static_cast<double>(ahead) + 1, flow);
}

// The shape of the gamma law whose mean and variance are those of the wait: the time between two
// departures is exponential with rate mu + theta k while k are ahead, so the variance is the sum of
// 1 / (mu + theta k)^2, near enough n / (mu (mu + theta n)).
Range wait_range(std::size_t ahead, const Flow& flow) {
  const double calls = static_cast<double>(ahead) + 1;
  const double mu = flow.calls_per_second;
  const double mean = static_cast<double>(expected_wait(ahead, flow).count()) / 1000;
  double variance = calls / (mu * (mu + flow.leaving_per_second * calls)) / (mean * mean);
  if (flow.weight > 0) variance += 1 / flow.weight;
  const auto quantile = [&](double z) {
    const double seconds = mean * variance * gamma_quantile(1 / variance, z);
    return Milliseconds(std::llround(std::min(seconds, kLongestWait) * 1000));
  };
  return {quantile(kTenth), quantile(-kTenth)};
}

}  // namespace spillway::waiting
