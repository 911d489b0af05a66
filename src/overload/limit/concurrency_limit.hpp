// How many requests an upstream is given at once, found from its behaviour: `"concurrency":
// "auto"`. One law for each file: PairedDither (the default), Gradient2 and Aimd (for comparison).
//
// Pure; one for each upstream, stepped by the control tick.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace spillway::overload {

// What happened at the upstream during one tick, under the limit of that tick. While only some of
// its servers are in rotation: what would have happened at all of them.
struct LimitSample {
  Duration span{0};
  Duration wall{0};         // since the Unix epoch, at its end
  double slot_seconds = 0;  // requests at work, integrated over `span`
  double succeeded = 0;     // responses other than 5xx
  // Requests wait or are refused, and more than the limit lets in is offered.
  bool is_short = false;
  bool has_waiters = false;
  double admitted = 0;  // dispatched
  double released = 0;  // slots given back, also of requests without an answer
  double left = 0;      // of those, the ones without; less than 0 where a count is late
  // Part of the dispatched requests whose clients stayed, lately; nullopt: too few to say.
  std::optional<double> answered;
  // Fewer than ten a second were dispatched for the last minute: a few seconds say nothing.
  bool are_few = false;
  // Slow clients hold more than an eighth of the slots in use, and more than a quarter of those
  // that the upstream is at work for, and other requests are late. The clients hold slots without
  // work, and what the others do not get done is no sign of too much of it: no limit is to be found
  // by it.
  bool is_held_up = false;
  // Nor while other servers are in rotation than the requests at work were sent to.
  bool is_unsettled = false;
};

class ConcurrencyLimit {
 public:
  virtual ~ConcurrencyLimit() = default;

  virtual void step(const LimitSample& sample, TimePoint now) = 0;
  // In force from now on; within the bounds of the configuration.
  virtual std::uint32_t limit() const = 0;
  // Begins anew from a limit that was found before, moved into the bounds.
  virtual void restart(std::uint32_t limit) = 0;
  // The same from that of a former configuration, with what else it has learned if it is of the
  // same law.
  virtual void continue_from(const ConcurrencyLimit& former) { restart(former.limit()); }
};

}  // namespace spillway::overload
