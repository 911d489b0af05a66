#include "simulate/report/states.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::simulate {

bool has_states(const Recording& recording) {
  return recording.shedding || !recording.changes.empty();
}

std::vector<StateSpan> state_spans(const Recording& recording) {
  const auto end = static_cast<double>(recording.seconds.size());
  std::vector<StateSpan> spans;
  StateSpan span;
  const auto close = [&](double at) {
    span.to = at;
    if (span.to > span.from) spans.push_back(span);
  };
  for (const StateChange& change : recording.changes) {
    const double at = std::isfinite(change.at) ? std::clamp(change.at, span.from, end) : end;
    close(at);
    const Reason reason = change.to == State::normal ? Reason::none : change.reason;
    span = {.from = at, .to = at, .state = change.to, .reason = reason};
  }
  close(end);
  return spans;
}

std::array<double, kStateCount> time_per_state(const Recording& recording) {
  std::array<double, kStateCount> times{};
  for (const StateSpan& span : state_spans(recording)) {
    times[index(span.state)] += span.to - span.from;
  }
  return times;
}

}  // namespace spillway::simulate
