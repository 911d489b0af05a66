// How many requests an upstream is given at once, found from its behaviour: `"concurrency":
// "auto"`. Each law has a file: PairedDither (the default), Gradient2 and Aimd (for comparison).
//
// Pure; one for each upstream, stepped by the control tick.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace spillway::overload {

// The upstream during one tick, under the limit of that tick. While only some of its servers are in
// rotation, the values are scaled up to all of them.
struct LimitSample {
  Duration span{0};
  Duration wall{0};         // since the Unix epoch, at its end
  double slot_seconds = 0;  // requests at work, integrated over `span`
  double succeeded = 0;     // responses other than 5xx
  // Requests wait or are refused, and more is offered than the limit admits.
  bool is_short = false;
  bool has_waiters = false;
  double admitted = 0;  // dispatched
  double released = 0;  // slots given back, including those of requests without an answer
  double left = 0;      // the part of these without one; below 0 where a count is late
  // Recent share of the dispatched requests whose clients stayed; nullopt: too few to say.
  std::optional<double> answered;
  // Fewer than ten a second were dispatched over the last minute: a few seconds are no evidence.
  bool are_few = false;
  // Slow clients hold more than an eighth of the slots in use, and more than a quarter of those
  // that the upstream is working for, and other requests are late. Such slots are held without
  // work, and the resulting loss of throughput is no sign of overload: no limit can be found from
  // these samples.
  bool is_held_up = false;
  // The same holds after a change of the servers in rotation, until requests sent before it end.
  bool is_unsettled = false;
};

class ConcurrencyLimit {
 public:
  virtual ~ConcurrencyLimit() = default;

  virtual void step(const LimitSample& sample, TimePoint now) = 0;
  // In force from now on, within the configured bounds.
  virtual std::uint32_t limit() const = 0;
  // Restarts from a limit that was found before, clamped to the bounds.
  virtual void restart(std::uint32_t limit) = 0;
  // The same from the limit of a former configuration, and with what that one has learned if it
  // uses the same law.
  virtual void continue_from(const ConcurrencyLimit& former) { restart(former.limit()); }
};

}  // namespace spillway::overload
