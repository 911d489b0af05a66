// Visitors as one remembers them, with times in seconds.
#pragma once

#include "bench/crowd/record.hpp"

namespace spillway::crowd {

inline Span at(double seconds) {
  const TimePoint start = TimePoint() + from_seconds(seconds);
  return {start, start + Milliseconds(1)};
}

// Came, got its place a second later, was called, came in two seconds later, and has left again.
inline Record served(double arrived, double called) {
  return {.fate = Fate::left,
          .arrived = at(arrived),
          .joined = at(arrived + 1),
          .called = at(called),
          .entered = at(called + 2),
          .was_inside = true};
}

}  // namespace spillway::crowd
