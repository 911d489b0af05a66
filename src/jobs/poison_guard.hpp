// Which jobs a proxy may hold at the same time.
//
// When a proxy ends, any of the jobs that it held may be the cause, or none: each counts a
// recovery, and one that already had kMostRecoveries is dead as poison. So the more recoveries a
// job has, the fewer of its kind are held at a time: groups that shrink down to a test of one
// (group testing: Dorfman, Annals of Mathematical Statistics 1943). So each end of a proxy makes at
// most one job dead: a job that ends every proxy that begins it is dead after the fourth, and the
// jobs that were held together with it are not.
//
// A claim asks a lane for jobs with few recoveries, which may be held in any number. If the store
// has reported that the lane has others as well, a claim asks for those too, but for no more jobs
// than may be held. So the leased jobs obey the rules at any time. Pure, in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "jobs/life.hpp"

namespace spillway::jobs {

// At most `together` jobs with this many recoveries or more are held at a time.
struct PoisonGuardRule {
  std::uint32_t recoveries = 0;
  std::size_t together = 0;
};
inline constexpr std::array<PoisonGuardRule, 2> kPoisonGuardRules{
    {{kMostRecoveries - 1, 8}, {kMostRecoveries, 1}}};

// No other job of its kind is held together with it.
constexpr bool is_alone(std::uint32_t recoveries) {
  return recoveries >= kPoisonGuardRules.back().recoveries;
}

class PoisonGuard {
 public:
  // How to ask a lane: for this many jobs, none of them with more recoveries.
  struct Ask {
    std::size_t limit = 0;
    std::uint32_t most_recoveries = 0;
  };

  // A lane is about to be asked for up to `limit` jobs, at least one. Jobs that may come count as
  // held until the lane has answered.
  Ask ask(const Lane& lane, std::size_t limit);
  // A job has come, and is held.
  void join(std::uint32_t recoveries);
  // All jobs that came have joined. `least_left`: the fewest recoveries of the jobs that the claim
  // skipped in the lane because of their recoveries; nullopt: it skipped none, as far as it read.
  // Returns the lanes to ask now.
  std::vector<Lane> answered(const Lane& lane, const Ask& asked,
                             std::optional<std::uint32_t> least_left);
  // None of the lanes that have been asked will answer.
  void failed() { asked_ = {}; }
  // A job is no longer held. Returns the lanes to ask now, one for each route: a lane with a
  // skipped job that may be held now; among several, the one asked longest ago.
  std::vector<Lane> leave(std::uint32_t recoveries);

  // With more lanes than this, further lanes with skipped jobs are known only once some are done.
  static constexpr std::size_t kMostLanes = 4096;

 private:
  using Counts = std::array<std::size_t, kPoisonGuardRules.size()>;  // one for each rule
  // A lane in which jobs were skipped.
  struct Left {
    std::uint32_t least = 0;  // recoveries
    std::uint64_t seen = 0;   // a growing sequence number
  };

  std::size_t room(std::uint32_t recoveries) const;
  std::vector<Lane> next();

  Counts in_hand_{};
  Counts asked_{};
  std::map<Lane, Left> left_;
  std::uint64_t seen_ = 0;
};

}  // namespace spillway::jobs
