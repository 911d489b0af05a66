// Turns the counters of an upstream, which only grow, into what a concurrency limit is told of each
// tick.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "overload/concurrency_limit.hpp"
#include "overload/signals.hpp"

namespace spillway::overload {

class LimitSampler {
 public:
  // Samples the time since the last call; nullopt at the first one. `now` never goes back.
  std::optional<LimitSample> take(const TickInput& input, const OverloadSignals& signals,
                                  TimePoint now);

 private:
  std::optional<TimePoint> last_;
  double slot_seconds_ = 0;
  std::uint32_t succeeded_ = 0;
  std::uint32_t offered_ = 0, admitted_ = 0;
  std::uint32_t waiting_ = 0;
  std::uint32_t ended_ = 0;
  double running_ = 0;                            // mean of the last tick
  double recent_admitted_ = 0, recent_left_ = 0;  // without an answer; the older ones count less
};

}  // namespace spillway::overload
