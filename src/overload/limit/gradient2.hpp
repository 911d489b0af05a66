// The limit by the gradient of latency: how much longer requests take now than over the last
// minutes. As in Netflix's concurrency-limits (Gradient2Limit, 2018) and, with a measured minimum,
// Envoy's adaptive concurrency filter. For comparison: an upstream that as a whole gets slower
// looks like one that is overloaded.
#pragma once

#include "config/config.hpp"
#include "overload/limit/concurrency_limit.hpp"

namespace spillway::overload {

class Gradient2 final : public ConcurrencyLimit {
 public:
  Gradient2(const config::AutoConcurrency& settings, std::uint32_t least);

  void step(const LimitSample& sample, TimePoint now) override;
  std::uint32_t limit() const override;
  void restart(std::uint32_t limit) override;

 private:
  double least_, most_;
  double limit_;
  double usual_ = 0;  // seconds a request takes, averaged over long
  LimitSample window_;
};

}  // namespace spillway::overload
