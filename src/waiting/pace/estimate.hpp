// The wait until a call, from the number of tickets ahead, the rate of calls, the rate at which
// tickets ahead give up, and the rate of later tickets that go before.
//
// With n ahead, calls at a rate mu, arrivals that go before at a rate lambda, and each waiting
// ticket leaving at a rate theta, the line ahead shrinks by mu - lambda + theta n a second, so the
// wait is ln(1 + theta (n + 1) / (mu - lambda)) / theta: (n + 1) / (mu - lambda) for theta = 0. For
// lambda >= mu there is no estimate: the wait may last for ever.
//
// The range comes from the gamma law with the mean and variance of the wait; its quantiles from the
// approximation of Wilson and Hilferty (PNAS 17, 1931): at 10 and 90 % at most 6 % off at shape 1,
// 1 % from shape 2 and 0.1 % from shape 10 on. The learned rates are uncertain themselves, which
// widens the range.
#pragma once

#include <cstddef>
#include <optional>

#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

// The wait until the call, from now.
struct Range {
  Milliseconds p10{};
  Milliseconds p90{};
};

// The same and the median (50 %), in seconds.
struct Quantiles {
  double p10 = 0;
  double p50 = 0;
  double p90 = 0;
};

struct Flow {
  double calls_per_second = 0;    // above 0
  double weight = 0;              // events that the rate rests on; 0: it is given, not learned
  double leaving_per_second = 0;  // per waiting ticket
  double higher_per_second = 0;   // arrivals that go before
  double higher_weight = 0;       // as `weight`
  double dispersion = 1;          // variance of a number of calls over its mean; 1: Poisson
  // The factor, from 1 on, by which the rate may be higher than learned, because it was learned
  // while all sessions began at the same time.
  double haste = 1;
};

// nullopt: no estimate.
std::optional<Milliseconds> expected_wait(std::size_t ahead, const Flow& flow);
std::optional<Quantiles> wait_quantiles(std::size_t ahead, const Flow& flow);

// Both sides `times` as wide, on a logarithmic scale.
Range widened(const Quantiles& quantiles, double times);

// The quantile of the gamma distribution of this shape and scale 1; `z`: the normal quantile.
double gamma_quantile(double shape, double z);

}  // namespace spillway::waiting
