#include "waiting/pace/entry_pace.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::waiting {
namespace {

constexpr double kGrowth = 1.1;      // a second
constexpr double kDecline = 0.5;     // the same
constexpr double kLeast = 1.0 / 16;  // of the start
constexpr double kStart = 0.05;
constexpr double kFewestAtStart = 5;  // sessions
constexpr double kMostAtStart = 0.25;

}  // namespace

void EntryPace::set_active_sessions(std::uint32_t active_sessions) {
  const double one = 1.0 / std::max(active_sessions, 1U);
  start_ = std::max({one, std::min(kFewestAtStart * one, kMostAtStart), kStart});
  pace_ = std::min(pace_, start_);
}

double EntryPace::tick(Time now, const Health& health) {
  const bool is_first = last_ == Time{};
  const double seconds =
      is_first ? 0 : std::clamp(static_cast<double>((now - last_).count()) / 1000, 0.0, 1.0);
  last_ = now;
  if (health.state >= State::overloaded) {
    pace_ = std::max(std::min(pace_, start_) * std::pow(kDecline, seconds), start_ * kLeast);
    return 0;
  }
  if (health.state == State::elevated) {
    pace_ = std::max(pace_ * std::pow(kDecline, seconds), start_ * kLeast);
  } else if (!health.is_refusing && !health.are_waiting) {
    const double change = std::pow(kGrowth, seconds);
    if (health.is_needed || pace_ < start_) {
      pace_ = std::min(pace_ * change, 1.0);
    } else {
      pace_ = std::max(pace_ / change, start_);
    }
  }
  return pace_;
}

}  // namespace spillway::waiting
