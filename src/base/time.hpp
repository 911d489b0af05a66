// Monotonic time points and durations.
//
// Only the I/O shell (proxy/) and main read the clock; everything else takes `now` as an argument.
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
