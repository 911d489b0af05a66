// Whether an upstream is overloaded, with hysteresis and a cooldown so that it does not flap.
#pragma once

#include <optional>

#include "base/reason.hpp"
#include "base/state.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/signals.hpp"

namespace spillway::overload {

using spillway::name;
using spillway::State;

struct Transition {
  State from;
  State to;
  Reason reason;  // of entering; on the way back, what it had been entered for
};

// The most alarming signal at or above its threshold, by the fixed order queue saturation,
// queue wait, tail latency, event-loop lag, error burst, inflight saturation; none if all are
// below. An unset threshold and a signal without evidence take no part.
Reason breached(const config::Thresholds& enter, const OverloadSignals& signals);

// True if no signal is above its exit threshold.
bool all_satisfied(const config::Thresholds& exit, const OverloadSignals& signals);

// Enters on any breach at once; leaves when all exit thresholds are satisfied and at least the
// cooldown has passed since entering.
class StateMachine {
 public:
  explicit StateMachine(const config::Overload& settings);

  std::optional<Transition> step(const OverloadSignals& signals, TimePoint now);

  State state() const { return state_; }
  // What is breached now; with nothing breached, what caused the entry. none while normal.
  Reason reason() const { return reason_; }
  // When the present state was entered; nullopt before the first transition.
  std::optional<TimePoint> since() const { return since_; }

 private:
  config::Thresholds enter_;
  config::Thresholds exit_;
  Duration cooldown_;
  State state_ = State::normal;
  Reason reason_ = Reason::none;
  Reason entry_reason_ = Reason::none;
  std::optional<TimePoint> since_;
};

}  // namespace spillway::overload
