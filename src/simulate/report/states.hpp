// The overload states of a run as spans of time.
#pragma once

#include <array>
#include <vector>

#include "base/reason.hpp"
#include "base/state.hpp"
#include "simulate/recording/recording.hpp"

namespace spillway::simulate {

// In seconds since the beginning; `reason`: why the state was entered, none in NORMAL.
struct StateSpan {
  double from = 0;
  double to = 0;
  State state = State::normal;
  Reason reason = Reason::none;
};

// False for a run without shedding that never left NORMAL: no controller judged its load.
bool has_states(const Recording& recording);

// Derived from the changes, beginning in NORMAL: without gaps, in order of time, from 0 to the end
// of the last second. Changes after that, or out of order, are moved inside. Empty spans are left
// out.
std::vector<StateSpan> state_spans(const Recording& recording);

// Seconds spent in each state, by index of State.
std::array<double, kStateCount> time_per_state(const Recording& recording);

}  // namespace spillway::simulate
