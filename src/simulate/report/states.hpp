// The overload states of a run as spans of time.
#pragma once

#include <array>
#include <vector>

#include "base/reason.hpp"
#include "base/state.hpp"
#include "simulate/recording/recording.hpp"

namespace spillway::simulate {

// In seconds since the beginning; `reason` is the one the state was entered for, none in NORMAL.
struct StateSpan {
  double from = 0;
  double to = 0;
  State state = State::normal;
  Reason reason = Reason::none;
};

// False for a run without shedding that never left NORMAL: no controller judged its load.
bool has_states(const Recording& recording);

// From the changes, beginning in NORMAL: without gaps, in order of time, from 0 to the end of the
// last second. Changes beyond that, or not in order of time, are brought inside. Empty stretches
// are left out.
std::vector<StateSpan> state_spans(const Recording& recording);

// Seconds spent in each state, by index of State.
std::array<double, kStateCount> time_per_state(const Recording& recording);

}  // namespace spillway::simulate
