// The wait until a call, from how many are called before, how fast calls go, how many of those
// ahead give up, and how many come later and go before.
//
// With n ahead, calls at a rate mu, arrivals that go before at a rate lambda, and each of those who
// wait leaving at a rate theta, the line ahead shrinks by mu - lambda + theta n a second, so the
// wait is ln(1 + theta (n + 1) / (mu - lambda)) / theta: (n + 1) / (mu - lambda) for theta = 0. For
// lambda >= mu there is none: it may last for ever.
//
// Of the range, the gamma law with the mean and variance of the wait, whose quantiles come from the
// approximation of Wilson and Hilferty (PNAS 17, 1931): at 10 and 90 % at most 6 % off at shape 1,
// 1 % from shape 2 and 0.1 % from shape 10 on. What is learned is itself uncertain, which widens
// it.
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

// The same with its middle (50 %), in seconds.
struct Quantiles {
  double p10 = 0;
  double p50 = 0;
  double p90 = 0;
};

struct Flow {
  double calls_per_second = 0;    // above 0
  double weight = 0;              // events that this rests on; 0: it is given, not learned
  double leaving_per_second = 0;  // of each who waits
  double higher_per_second = 0;   // who come and go before
  double higher_weight = 0;       // as weight
  double dispersion = 1;          // variance of a number of calls over its mean; 1: Poisson
  // How much higher the rate may be than it looks, since it was learned while all sessions began
  // at the same time; from 1.
  double haste = 1;
};

// nullopt: none.
std::optional<Milliseconds> expected_wait(std::size_t ahead, const Flow& flow);
std::optional<Quantiles> wait_quantiles(std::size_t ahead, const Flow& flow);

// Each side as many times as wide, on a logarithmic scale.
Range widened(const Quantiles& quantiles, double times);

// The quantile of a gamma distribution of that shape and scale 1, `z` being that of the normal one.
double gamma_quantile(double shape, double z);

}  // namespace spillway::waiting
