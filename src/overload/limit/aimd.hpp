// The limit by additive increase and multiplicative decrease (Chiu, Jain, "Analysis of the increase
// and decrease algorithms for congestion avoidance in computer networks", 1989), as in TCP: up by
// one per tick while the limit is used, down by a tenth when requests are lost. For comparison
// only: it notices overload only when clients leave.
#pragma once

#include "config/config.hpp"
#include "overload/limit/concurrency_limit.hpp"

namespace spillway::overload {

class Aimd final : public ConcurrencyLimit {
 public:
  Aimd(const config::AutoConcurrency& settings, std::uint32_t least);

  void step(const LimitSample& sample, TimePoint now) override;
  std::uint32_t limit() const override;
  void restart(std::uint32_t limit) override;

 private:
  double least_, most_;
  double limit_;
};

}  // namespace spillway::overload
