#include "overload/limit/dither_turns.hpp"

#include <algorithm>

namespace spillway::overload {
namespace {

constexpr int kStep = 3;
constexpr Milliseconds kLongestTurn{5400};  // except with long ticks
constexpr int kTicks = 4;
// Parts of a turn: the ticks lost at its ends, and how many times as long as a slot is held.
constexpr int kTicksLost = 2;
constexpr double kHoldTimes = 2.4;
// A shorter turn is chosen only if it is at least this many times as long as needed.
constexpr int kMargin = 2;

Duration needed_for(double held, Duration tick) {
  return kTicksLost * tick + from_seconds(kHoldTimes * held);
}

}  // namespace

void DitherTurns::fit(double held, Duration tick) {
  are_shared_ = can_be_shared(held, tick);
  while (length_ < kTicks * tick) length_ *= kStep;
  const Duration needed = needed_for(held, tick);
  if (length_ < needed && length_ < kLongestTurn) length_ *= kStep;
  const Duration least = std::max(kMargin * needed, kTicks * tick);
  while (length_ > kShortest && length_ / kStep >= least) length_ /= kStep;
}

bool DitherTurns::can_be_shared(double held, Duration tick) {
  return needed_for(held, tick) <= std::max<Duration>(kLongestTurn, kTicks * tick);
}

}  // namespace spillway::overload
