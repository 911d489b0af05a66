// The highest throughput that an upstream has shown, and at how many requests at work, to detect a
// collapse, in which more work brings less throughput.
//
// Some upstreams thrash: above their knee each further request costs more than it adds. With four
// slots at 95 % load, a random burst that exceeds the knee fills a limit of 64 within seconds, and
// from then on no request is served in time. Lowering the limit only at that point is too late: the
// requests already at the upstream take longer to drain than their clients wait.
//
// Pure; a part of CollapseTrial, stepped by the control tick.
#pragma once

#include "overload/limit/concurrency_limit.hpp"

namespace spillway::overload {

class BestThroughput {
 public:
  void step(const LimitSample& sample);

  // Far more requests are at work than at the best throughput, and far fewer succeed, although
  // at least half as many are dispatched. (If fewer are, long requests have replaced short
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
