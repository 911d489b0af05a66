// Turns the counters of an upstream, which only grow, into the sample of each tick that a
// concurrency limit is fed with.
//
// A limit is found for all servers of the upstream. While some are out of rotation, the values of
// the others are scaled up by their share of the slots: so a law sees an upstream that behaves as
// before, and what it has learned is still valid when they are back.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "overload/limit/concurrency_limit.hpp"
#include "overload/signals/signals.hpp"

namespace spillway::overload {

class LimitSampler {
 public:
  // Samples the time since the last call; nullopt at the first one. `now` never goes back.
  std::optional<LimitSample> take(const TickInput& input, const OverloadSignals& signals,
                                  TimePoint now);

 private:
  void note_rate(LimitSample& sample);
  void leave_out_lost(LimitSample& sample, const InRotation& rotation);
  void scale(LimitSample& sample, const InRotation& rotation, double held, TimePoint now);

  std::optional<TimePoint> last_;
  double slot_seconds_ = 0;
  std::uint32_t succeeded_ = 0;
  std::uint32_t offered_ = 0, admitted_ = 0;
  std::uint32_t waiting_ = 0;
  std::uint32_t ended_ = 0;
  double running_ = 0;                            // mean of the last tick
  double elsewhere_ = 0;                          // in flight at servers out of rotation
  std::size_t servers_in_ = 0;                    // in rotation; 0: not known yet
  TimePoint settles_{};                           // after a change of that number
  double minute_ = 0, minute_admitted_ = 0;       // seconds, and dispatched in them; decaying, too
  double recent_admitted_ = 0, recent_left_ = 0;  // without an answer; older ones count less
};

}  // namespace spillway::overload
