#include "jobs/poison_guard.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace spillway::jobs {
namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

static_assert(kPoisonGuardRules.back().recoveries == kMostRecoveries);
static_assert(kPoisonGuardRules.back().together == 1);

// How many of the rules apply to jobs with this many recoveries: it is the first ones.
std::size_t rules_of(std::uint32_t recoveries) {
  const auto first_other = std::ranges::find_if(
      kPoisonGuardRules, [&](const PoisonGuardRule& rule) { return rule.recoveries > recoveries; });
  return static_cast<std::size_t>(first_other - kPoisonGuardRules.begin());
}

// The most recoveries of jobs to which this many rules apply.
std::uint32_t most_of(std::size_t rules) {
  if (rules == kPoisonGuardRules.size()) return std::numeric_limits<std::uint32_t>::max();
  return kPoisonGuardRules[rules].recoveries - 1;
}

}  // namespace

std::size_t PoisonGuard::room(std::uint32_t recoveries) const {
  std::size_t room = kAny;
  for (std::size_t n = 0; n < rules_of(recoveries); ++n) {
    const std::size_t most = kPoisonGuardRules[n].together;
    room = std::min(room, most - std::min(most, in_hand_[n] + asked_[n]));
  }
  return room;
}

PoisonGuard::Ask PoisonGuard::ask(const Lane& lane, std::size_t limit) {
  const auto left = left_.find(lane);
  if (left == left_.end()) return {limit, most_of(0)};
  left->second.seen = ++seen_;
  const std::size_t may_join = room(left->second.least);
  if (may_join == 0) return {limit, most_of(0)};
  const std::size_t rules = rules_of(left->second.least);
  const Ask ask{std::min(limit, may_join), most_of(rules)};
  for (std::size_t n = 0; n < rules; ++n) asked_[n] += ask.limit;
  return ask;
}

void PoisonGuard::join(std::uint32_t recoveries) {
  for (std::size_t n = 0; n < rules_of(recoveries); ++n) ++in_hand_[n];
}

// Forgets the recovered jobs that the lane was asked for: otherwise it would be asked for them
// again and again, a few at a time, while it returns other jobs.
std::vector<Lane> PoisonGuard::answered(const Lane& lane, const Ask& asked,
                                        std::optional<std::uint32_t> least_left) {
  const std::size_t rules = rules_of(asked.most_recoveries);
  for (std::size_t n = 0; n < rules; ++n) asked_[n] -= std::min(asked_[n], asked.limit);
  left_.erase(lane);
  if (least_left && left_.size() < kMostLanes) left_[lane] = {*least_left, ++seen_};
  if (rules > 0) return next();
  if (left_.contains(lane) && room(*least_left) > 0) return {lane};
  return {};
}

std::vector<Lane> PoisonGuard::leave(std::uint32_t recoveries) {
  const std::size_t rules = rules_of(recoveries);
  for (std::size_t n = 0; n < rules; ++n) in_hand_[n] -= std::min<std::size_t>(in_hand_[n], 1);
  return rules > 0 ? next() : std::vector<Lane>{};
}

std::vector<Lane> PoisonGuard::next() {
  std::map<std::string, std::map<Lane, Left>::iterator> of_routes;
  for (auto one = left_.begin(); one != left_.end(); ++one) {
    if (room(one->second.least) == 0) continue;
    const auto [known, is_first] = of_routes.emplace(one->first.route, one);
    if (!is_first && one->second.seen < known->second->second.seen) known->second = one;
  }
  std::vector<Lane> lanes;
  for (const auto& [route, one] : of_routes) {
    one->second.seen = ++seen_;
    lanes.push_back(one->first);
  }
  return lanes;
}

}  // namespace spillway::jobs
