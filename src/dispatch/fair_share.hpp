// Weighted fair queueing between classes by virtual finish times, one tag per class
// (start-time fair queueing: Goyal, Vin, Cheng, SIGCOMM 1996).
//
// A class's tag is the virtual time at which its last service finished: each service advances
// it by 1/weight. The class with the earliest tag is served; a tag in the past counts as the
// present, so idleness saves nothing up, and a class that was not served for a while is next
// even if its waiters came and went meanwhile. Ties go to the higher class.
//
// A scheduler asks three things of any discipline: whom to serve, how many turns pass before a
// newcomer's, and to remember who was served. Costs O(classes), whatever the queues' length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/ids.hpp"

namespace spillway::dispatch {

using ClassSet = std::uint32_t;  // bit i: ClassId i
static_assert(kMaxClasses <= 32);

// Waiters by class.
using WaitingCounts = std::array<std::uint32_t, kMaxClasses>;

constexpr ClassSet set_of(ClassId id) { return ClassSet{1} << index(id); }

class FairShare {
 public:
  // By class, > 0 for each of the first `classes`.
  using Weights = std::array<double, kMaxClasses>;

  FairShare(const Weights& weights, std::size_t classes) : weights_(weights), classes_(classes) {}

  // The one of `ready` (not empty) to serve next.
  ClassId pick(ClassSet ready) const;

  void served(ClassId id);

  // `id` got a slot that nobody waited for: no charge, but part of what it recently got.
  void passed(ClassId id);

  // How many turns of all classes it takes, its own included, until a newcomer to `id` behind
  // `ahead` waiters of its class is served. Another class takes as many of them as its weight
  // allows, but no more than wait there now or, if more, than its recent part of all turns: one
  // that hardly ever has a waiter does not count as backlogged, nor does one with many arrivals
  // count as idle because none waits just now.
  double turns(ClassId id, double ahead, const WaitingCounts& waiting) const;

  double weight(ClassId id) const { return weights_[index(id)]; }
  void set_weight(ClassId id, double weight) { weights_[index(id)] = weight; }

 private:
  static constexpr double kRecent = 1.0 / 64;  // weight of one turn in parts_

  void remember(ClassId id);

  Weights weights_;
  std::array<double, kMaxClasses> tags_{};
  std::array<double, kMaxClasses> parts_{};  // of the recent turns, by class
  double now_ = 0;                           // virtual
  std::size_t classes_;
};

}  // namespace spillway::dispatch
