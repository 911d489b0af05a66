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
#include <cstdint>

#include "base/ids.hpp"

namespace spillway::dispatch {

using ClassSet = std::uint32_t;  // bit i: ClassId i
static_assert(kMaxClasses <= 32);

constexpr ClassSet set_of(ClassId id) { return ClassSet{1} << index(id); }

class FairShare {
 public:
  // By class, > 0 for each that is ever served.
  using Weights = std::array<double, kMaxClasses>;

  explicit FairShare(const Weights& weights) : weights_(weights) {}

  // The one of `ready` (not empty) to serve next.
  ClassId pick(ClassSet ready) const;

  void served(ClassId id);

  // How many turns of all classes it takes, its own included, until a newcomer to `id` behind
  // `ahead` waiters of its class is served while the classes of `backlogged` stay so: about
  // (ahead + 1) divided by its class's share of their weights.
  double turns(ClassId id, double ahead, ClassSet backlogged) const;

  double weight(ClassId id) const { return weights_[index(id)]; }
  void set_weight(ClassId id, double weight) { weights_[index(id)] = weight; }

 private:
  Weights weights_;
  std::array<double, kMaxClasses> tags_{};
  double now_ = 0;  // virtual
};

}  // namespace spillway::dispatch
