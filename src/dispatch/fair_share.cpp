#include "dispatch/fair_share.hpp"

#include <algorithm>
#include <bit>

namespace spillway::dispatch {
namespace {

// Tags keep nine digits behind the point when virtual time starts again from here.
constexpr double kRebaseAt = 1e6;

// Of a prediction in turns.
constexpr int kRounds = 5;
constexpr double kCloseEnough = 0.25;

}  // namespace

ClassId FairShare::pick(ClassSet ready) const {
  std::size_t best = static_cast<std::size_t>(std::countr_zero(ready));
  for (ClassSet rest = ready & (ready - 1); rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(rest));
    if (std::max(tags_[i], now_) < std::max(tags_[best], now_)) best = i;
  }
  return static_cast<ClassId>(best);
}

void FairShare::served(ClassId id) {
  remember(id);
  double& tag = tags_[index(id)];
  now_ = std::max(now_, tag);
  tag = now_ + 1 / weights_[index(id)];
  if (now_ < kRebaseAt) return;
  for (double& t : tags_) t -= now_;
  now_ = 0;
}

void FairShare::passed(ClassId id) { remember(id); }

void FairShare::remember(ClassId id) {
  for (std::size_t i = 0; i < classes_; ++i) parts_[i] -= parts_[i] * kRecent;
  parts_[index(id)] += kRecent;
}

double FairShare::turns(ClassId id, double ahead, const WaitingCounts& waiting) const {
  const std::size_t mine = index(id);
  const double tag = std::max(tags_[mine], now_) + ahead / weights_[mine];
  std::array<double, kMaxClasses> allowed;
  double most = ahead + 1;
  for (std::size_t i = 0; i < classes_; ++i) {
    allowed[i] = 0;
    if (i == mine) continue;
    const double before = (tag - std::max(tags_[i], now_)) * weights_[i];
    if (before < 0) continue;
    const auto whole = static_cast<double>(static_cast<std::int64_t>(before));
    // On equal tags the higher class goes first.
    allowed[i] = (i < mine || whole < before) ? whole + 1 : whole;
    most += allowed[i];
  }
  // How many turns there are depends on how many the others get, and the other way round: close
  // in from above.
  double turns = most;
  for (int round = 0; round < kRounds; ++round) {
    const double last = turns;
    turns = ahead + 1;
    for (std::size_t i = 0; i < classes_; ++i)
      turns += std::min(allowed[i], std::max<double>(waiting[i], parts_[i] * last));
    if (last - turns < kCloseEnough) break;
  }
  return turns;
}

}  // namespace spillway::dispatch
