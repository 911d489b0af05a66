// The state machine of one upstream: NORMAL and up to three overloaded states, with hysteresis and
// cooldowns so that it does not flap.
#pragma once

#include <optional>
#include <vector>

#include "base/reason.hpp"
#include "base/state.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/signals/signals.hpp"

namespace spillway::overload {

using spillway::name;
using spillway::State;

struct Transition {
  State from;
  State to;
  Reason reason;  // for going up; on the way down, that of the last time it went up
};

// The most alarming signal at or above its threshold, in the fixed order queue saturation, queue
// wait, tail latency, event-loop lag, error burst, inflight saturation; none if all are below.
// Unset thresholds and signals without evidence are ignored.
Reason breached(const config::Thresholds& enter, const OverloadSignals& signals);

// True if no signal is above its exit threshold.
bool all_satisfied(const config::Thresholds& exit, const OverloadSignals& signals);

struct Scored {
  // The sum of weight x signal / threshold (for ratios to the quiet time, only the excess over 1 on
  // either side); an unset threshold or a signal without evidence adds nothing.
  double sum = 0;
  Reason largest = Reason::none;  // the largest contribution; among equals the most alarming
};
Scored scored(const config::Thresholds& enter, const config::SignalWeights& weights,
              const OverloadSignals& signals);

// A ladder of one to three overloaded states above NORMAL: the configured stages, or else
// OVERLOADED alone.
//
// Up: at once to the highest state that is alarming, by any enter threshold or, if so configured,
// by its score. Down: one state at a time, each after its cooldown (counted from entering it, from
// above or below), with all its exit thresholds satisfied and no alarm in it; by score, the sum
// must also have fallen to score.exit.
class StateMachine {
 public:
  explicit StateMachine(const config::Overload& settings);

  // Starts in the state of `other`, which may have other settings, or in the highest state below
  // it. The cooldown restarts. To be called before the first step.
  void continue_from(const StateMachine& other, TimePoint now);

  // `holding`: signals are low only because requests are held back. Then no state is left, nor
  // until its cooldown has passed since `holding` was last set.
  std::optional<Transition> step(const OverloadSignals& signals, bool holding, TimePoint now);
  std::optional<Transition> step(const OverloadSignals& signals, TimePoint now) {
    return step(signals, false, now);
  }

  State state() const { return level_ == 0 ? State::normal : stages_[level_ - 1].name; }
  // The signal that breaches a threshold of the current state now, or else of a state below; if
  // none does, the reason of the last transition upwards. None while normal.
  Reason reason() const { return reason_; }
  // When the current state was entered; nullopt before the first transition.
  std::optional<TimePoint> since() const { return since_; }

 private:
  struct Stage {
    State name;
    config::Thresholds enter;
    config::Thresholds exit;
    Duration cooldown;
  };

  Reason alarm(const Stage& stage, const OverloadSignals& signals) const;
  bool may_leave(const Stage& stage, const OverloadSignals& signals, TimePoint now) const;
  Reason present_reason(const OverloadSignals& signals) const;
  Transition move_to(std::size_t level, TimePoint now);

  std::vector<Stage> stages_;  // ascending
  config::EnterBy enter_by_;
  config::Score score_;
  std::size_t level_ = 0;  // 0: NORMAL; i: stages_[i - 1]
  Reason reason_ = Reason::none;
  Reason entry_reason_ = Reason::none;
  std::optional<TimePoint> since_;
  std::optional<TimePoint> held_;  // the last step with `holding`
};

}  // namespace spillway::overload
