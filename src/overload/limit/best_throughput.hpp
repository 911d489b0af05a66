// The most that an upstream has served, and with how many requests at work: so that a collapse is
// seen, in which more work brings less.
//
// Some upstreams thrash: above their knee each further request costs more than it brings. One of
// four slots at 95 % load that a chance crowd takes above it is filled up to a limit of 64 within
// seconds, and then serves no request in time. At the limit it is too late: the requests that it
// has need longer to drain than their clients wait.
//
// Pure; a part of CollapseTrial, stepped by the control tick.
#pragma once

#include "overload/limit/concurrency_limit.hpp"

namespace spillway::overload {

class BestThroughput {
 public:
  void step(const LimitSample& sample);

  // Far more requests are at work than at the best throughput, and far fewer succeed, although at
  // least half as many are dispatched. (Where fewer are, long ones have come in place of short
  // ones.)
  bool has_collapsed() const;
  // Requests at work at the best throughput, a mean; 0: not known yet.
  double at_work() const { return best_.at_work; }
  double rate() const { return best_.rate; }  // successes per second; 0: not known yet

 private:
  struct Mean {
    double rate = 0;      // successes per second
    double admitted = 0;  // requests per second
    double at_work = 0;
  };

  double seconds_ = 0, successes_ = 0;  // until the first mean is known
  Mean recent_;
  Mean best_;
};

}  // namespace spillway::overload
