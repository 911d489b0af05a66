// Which jobs a proxy has in hand beside each other.
//
// When a proxy ends, any of the jobs that it had in hand may be why, or none: each counts a
// recovery, and one that had kMostRecoveries is dead as poison. So the more recoveries a job has,
// the fewer of its kind are in hand at a time: groups that shrink up to a test of one (group
// testing: Dorfman, Annals of Mathematical Statistics 1943). So each end of a proxy makes at most
// one job dead: a job that ends every proxy that begins it is dead after the fourth, and the jobs
// that were beside it are not.
//
// A claim asks a lane for jobs with few recoveries: any number of them may join. If the store has
// said that the lane has others as well, a claim asks for those, too, but for no more jobs than may
// join. So the leased jobs keep to the rule at any time. Pure, in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "jobs/life.hpp"

namespace spillway::jobs {

// Jobs with so many recoveries or more are in hand `together` at a time, at most.
struct PoisonGuardRule {
  std::uint32_t recoveries = 0;
  std::size_t together = 0;
};
inline constexpr std::array<PoisonGuardRule, 2> kPoisonGuardRules{
    {{kMostRecoveries - 1, 8}, {kMostRecoveries, 1}}};

// No other one of its kind is in hand beside it.
constexpr bool is_alone(std::uint32_t recoveries) {
  return recoveries >= kPoisonGuardRules.back().recoveries;
}

class PoisonGuard {
 public:
  // How a lane is asked: for so many jobs, none of them with more recoveries.
  struct Ask {
    std::size_t limit = 0;
    std::uint32_t most_recoveries = 0;
  };

  // A lane is about to be asked for up to `limit` jobs, at least one. What may come counts as in
  // hand until it is answered.
  Ask ask(const Lane& lane, std::size_t limit);
  // One has come, and is in hand.
  void join(std::uint32_t recoveries);
  // All that has come has joined. `least_left`: the fewest recoveries of the jobs that the claim
  // left in the lane for that reason; nullopt: it left none, as far as it read. Returns the lanes
  // to ask now.
  std::vector<Lane> answered(const Lane& lane, const Ask& asked,
                             std::optional<std::uint32_t> least_left);
  // None of the lanes that were asked will be answered.
  void failed() { asked_ = {}; }
  // One is not in hand any more. Returns the lanes to ask now, one of each route: a lane in which a
  // job was left that may join now, the one that was asked longest ago.
  std::vector<Lane> leave(std::uint32_t recoveries);

  // Beyond so many lanes in which jobs were left, others are known only once some of them are done.
  static constexpr std::size_t kMostLanes = 4096;

 private:
  using Counts = std::array<std::size_t, kPoisonGuardRules.size()>;  // of each rule
  // Of a lane in which jobs were left.
  struct Left {
    std::uint32_t least = 0;  // recoveries
    std::uint64_t seen = 0;   // grows
  };

  std::size_t room(std::uint32_t recoveries) const;
  std::vector<Lane> next();

  Counts in_hand_{};
  Counts asked_{};
  std::map<Lane, Left> left_;
  std::uint64_t seen_ = 0;
};

}  // namespace spillway::jobs
