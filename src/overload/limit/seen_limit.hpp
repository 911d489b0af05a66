// The limit of `"concurrency": "auto"` in shadow mode, where it limits nothing, so that no two
// limits can be compared: the number of requests that the upstream was seen to work on without a
// queue, and at least the first limit. So no refusals are counted that a limit would have outgrown
// if enforced. Before a small upstream it stays too high, like the first one. (SlotTimes learns
// only while no request waits; here requests wait for a limit that holds none back.)
#pragma once

#include <cstdint>

#include "config/config.hpp"
#include "overload/limit/concurrency_limit.hpp"

namespace spillway::overload {

class SeenLimit final : public ConcurrencyLimit {
 public:
  SeenLimit(const config::AutoConcurrency& settings, std::uint32_t least);

  void step(const LimitSample& sample, TimePoint now) override;
  std::uint32_t limit() const override { return limit_; }
  void restart(std::uint32_t limit) override;

 private:
  std::uint32_t least_, most_;
  std::uint32_t limit_;
  double seconds_ = 0, slot_seconds_ = 0, released_ = 0;  // since the last evaluation
  double quiet_ = 0;  // seconds, the least mean time that a slot was held; it rises slowly
};

}  // namespace spillway::overload
