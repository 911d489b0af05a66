#include "dispatch/recent_turns.hpp"

namespace spillway::dispatch {
namespace {

// Of a prediction in turns.
constexpr int kRounds = 5;
constexpr double kCloseEnough = 0.25;

}  // namespace

double RecentTurns::settle(double own, const std::array<double, kMaxClasses>& allowed,
                           const WaitingCounts& waiting) const {
  double turns = own;
  for (std::size_t i = 0; i < classes_; ++i) turns += allowed[i];
  // How many turns there are depends on how many the others get, and the other way round: close
  // in from above.
  for (int round = 0; round < kRounds; ++round) {
    const double last = turns;
    turns = own;
    for (std::size_t i = 0; i < classes_; ++i) turns += taken(i, allowed[i], waiting[i], last);
    if (last - turns < kCloseEnough) break;
  }
  return turns;
}

}  // namespace spillway::dispatch
