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
#include <span>

#include "base/ids.hpp"

namespace spillway::dispatch {

using ClassSet = std::uint32_t;  // bit i: ClassId i
static_assert(kMaxClasses <= 32);

constexpr ClassSet set_of(ClassId id) { return ClassSet{1} << index(id); }

class FairShare {
 public:
  // By class, each > 0.
  explicit FairShare(std::span<const double> weights);

  // The one of `ready` (not empty) to serve next.
  ClassId pick(ClassSet ready) const;

  void served(ClassId id);

  // Turns of all classes, its own included, until a newcomer to `id` with `ahead` waiters of
  // its class in front of it is served, while the classes of `backlogged` stay backlogged: its
  // class's work divided by its share.
  double turns(ClassId id, double ahead, ClassSet backlogged) const;

  double weight(ClassId id) const { return weights_[index(id)]; }
  void set_weight(ClassId id, double weight) { weights_[index(id)] = weight; }

 private:
  std::array<double, kMaxClasses> weights_{};
  std::array<double, kMaxClasses> tags_{};
  double now_ = 0;  // virtual
  std::size_t classes_;
};

}  // namespace spillway::dispatch
