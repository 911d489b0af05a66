// Whether the budgets of rules keep an upstream's signals low: the requests that they refuse would
// come back with the end of the state, and bring back the state.
//
// The upstream's capacity is assumed to be the most it did in NORMAL, remembered for some minutes.
// While more is offered, and budgets refuse part of it, the state lasts. The capacity may grow
// meanwhile, which no signal shows: so after a minute the state may end; if it comes back, after
// two minutes the next time, and so on up to 16.
//
// Pure; one for each upstream, stepped by the control tick.
#pragma once

#include <optional>

#include "base/reason.hpp"
#include "base/state.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/signals/signals.hpp"

namespace spillway::overload {

class BudgetHold {
 public:
  // With `"regulate": false` no state is held.
  explicit BudgetHold(const config::Overload& settings) : is_on_(settings.regulate) {}

  void continue_from(const BudgetHold& former) {
    const bool is_on = is_on_;
    *this = former;
    is_on_ = is_on;
  }

  struct Input {
    bool has_refused;  // a rule's budget has, since the last tick
    State state;       // before this tick, and its reason
    Reason reason;
  };
  void step(const OverloadSignals& signals, const Input& input, TimePoint now);

  bool is_holding() const { return holds_; }

 private:
  void note_state(const OverloadSignals& signals, State state, TimePoint now);

  bool is_on_;
  State state_ = State::normal;
  std::optional<TimePoint> last_step_;
  std::optional<TimePoint> normal_since_;
  double proven_ = 0;  // requests per second, the most in NORMAL
  std::optional<TimePoint> refused_;
  std::optional<TimePoint> held_since_;
  bool is_tried_ = false;  // the state may end
  Duration patience_{std::chrono::minutes(1)};
  bool holds_ = false;
};

}  // namespace spillway::overload
