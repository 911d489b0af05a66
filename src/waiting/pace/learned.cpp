#include "waiting/pace/learned.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::waiting {

namespace {

constexpr double kMostNoShows = 0.8;

}  // namespace

void Learned::did_not_come() {
  no_shows_ = std::min(no_shows_ + (1 - no_shows_) * kNoShowStep, kMostNoShows);
}

void Learned::observe(double seconds, const Events& events, bool is_used, std::size_t waiting) {
  leaving_.observe(seconds, waiting, events.left);
  if (!is_used) return;
  seconds_ += seconds;
  dispersion_.observe(seconds, events.calls);
  calls_.observe(seconds, events.calls, std::max(dispersion_.index(), 1.0));
  for (std::size_t tier = 0; tier < came_.size(); ++tier)
    came_[tier].observe(seconds, events.came[tier]);
}

// Sessions that began together end together: until some generations of them have passed, the count
// lacks half a generation, or all that have not ended yet. The start is forgotten as fast as the
// rate forgets it.
double Learned::haste(std::size_t sessions) const {
  if (sessions == 0) return 1;
  const double generations = calls_.per_second() * seconds_ / static_cast<double>(sessions);
  const double missing = std::max(1 / generations - 1, 0.5 / generations);
  return 1 + missing * std::exp(-std::max(seconds_ / LearnedRate::kSteady - 1, 0.0));
}

std::optional<Learned::Course> Learned::course(const Standing& standing) const {
  if (!calls_.is_known()) return std::nullopt;
  Flow of_all{.calls_per_second = calls_.per_second() * (1 - standing.lower_shares),
              .weight = calls_.weight(),
              .leaving_per_second = leaving_.per_second(),
              .dispersion = dispersion_.index(),
              .haste = haste(standing.sessions)};
  Flow of_share = of_all;
  of_all.higher_per_second = higher_per_second(standing.tier);
  for (std::size_t tier = 0; tier < standing.tier; ++tier)
    of_all.higher_weight += came_[tier].weight();
  const Course behind_all{standing.own + standing.higher, of_all};
  const auto wait = expected_wait(behind_all.ahead, of_all);
  if (standing.share <= 0) return wait ? std::optional(behind_all) : std::nullopt;
  // The tier gets one of several calls, so the variance over the mean shrinks with its share.
  of_share.calls_per_second = calls_.per_second() * standing.share;
  of_share.dispersion = of_all.dispersion * standing.share;
  const Course by_share{standing.own, of_share};
  if (wait && *wait <= *expected_wait(by_share.ahead, of_share)) return behind_all;
  return by_share;
}

}  // namespace spillway::waiting
