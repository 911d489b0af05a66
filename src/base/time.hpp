// Time as the whole house speaks it: monotonic points and strong durations.
//
// Only the I/O shell (proxy/) and main ever ask the clock; everything else is handed `now`.
#pragma once

#include <chrono>

namespace spillway {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = Clock::duration;  // nanoseconds
using Milliseconds = std::chrono::milliseconds;

// A deadline that never comes.
inline constexpr TimePoint kNever = TimePoint::max();

constexpr double to_seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
constexpr double to_milliseconds(Duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}
constexpr Duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace spillway
