// The wait until a call, from how many are called before, how fast calls go, and how many of those
// ahead give up.
//
// With n ahead, calls at a rate mu and each of those who wait leaving at a rate theta, the line
// ahead shrinks by mu + theta n a second, so the wait is ln(1 + theta (n + 1) / mu) / theta: (n +
// 1) / mu for theta = 0. Calls are taken as a Poisson process: the number of calls that the wait
// takes is gamma distributed with shape n + 1, and its quantiles come from the approximation of
// Wilson and Hilferty (PNAS 17, 1931): at 10 and 90 % at most 6 % off at shape 1, 1 % from shape 2
// and 0.1 % from shape 10 on. A learned mu is itself uncertain, as a mean of `weight` events is,
// which widens the range.
#pragma once

#include <cstddef>

#include "waiting/ticket.hpp"

namespace spillway::waiting {

// The wait until the call, from now.
struct Range {
  Milliseconds p10{};
  Milliseconds p90{};
};

struct Flow {
  double calls_per_second = 0;    // above 0
  double weight = 0;              // events that this rests on; 0: it is given, not learned
  double leaving_per_second = 0;  // of each who waits
};

Milliseconds expected_wait(std::size_t ahead, const Flow& flow);
Range wait_range(std::size_t ahead, const Flow& flow);

// The quantile of a gamma distribution of that shape and scale 1, `z` being that of the normal one.
double gamma_quantile(double shape, double z);

}  // namespace spillway::waiting
