// The limit by the gradient of latency: how much longer requests take now than over the last
// minutes. As in Netflix's concurrency-limits (Gradient2Limit, 2018) and, with a measured minimum,
// Envoy's adaptive concurrency filter. For comparison only: it cannot distinguish an upstream that
// has become slower as a whole from an overloaded one.
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
  double usual_ = 0;  // seconds a request takes, a long-term average
  LimitSample window_;
};

}  // namespace spillway::overload
