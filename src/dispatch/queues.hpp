// The waiters of each class, first in first out, and the set of classes that have any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "dispatch/class_queue.hpp"
#include "dispatch/waiter.hpp"

namespace spillway::dispatch {

using ClassSet = std::uint32_t;  // bit i: ClassId i
static_assert(kMaxClasses <= 32);

constexpr ClassSet set_of(ClassId id) { return ClassSet{1} << index(id); }

// How many of `count` times that lie evenly between `first` and `last` are not after `t`.
inline double count_until(TimePoint t, std::uint32_t count, TimePoint first, TimePoint last) {
  if (t < first) return 0;
  if (t >= last) return count;
  return 1 + (count - 1) * to_seconds(t - first) / to_seconds(last - first);
}

// Waiters by class.
using WaitingCounts = std::array<std::uint32_t, kMaxClasses>;

class Queues {
 public:
  // By the waiter's traffic_class; it is in no queue.
  void push(Waiter& waiter) {
    const ClassId id = waiter.traffic_class;
    lists_[index(id)].push_back(waiter);
    ++waiting_[index(id)];
    backlogged_ |= set_of(id);
  }

  // From anywhere in its queue; it must be in it.
  void remove(Waiter& waiter) {
    const ClassId id = waiter.traffic_class;
    waiter.Hook<InClassQueue>::unlink();
    if (--waiting_[index(id)] == 0) backlogged_ &= ~set_of(id);
  }

  // nullptr when the class has no waiter.
  const Waiter* oldest(std::size_t i) const { return lists_[i].front(); }
  const Waiter* youngest(std::size_t i) const { return lists_[i].back(); }
  Waiter* oldest(ClassId id) { return lists_[index(id)].front(); }
  Waiter* youngest(ClassId id) { return lists_[index(id)].back(); }

  std::uint32_t waiting(ClassId id) const { return waiting_[index(id)]; }
  const WaitingCounts& waiting() const { return waiting_; }
  ClassSet backlogged() const { return backlogged_; }  // the classes with a waiter

 private:
  std::array<IntrusiveList<Waiter, InClassQueue>, kMaxClasses> lists_;
  WaitingCounts waiting_{};
  ClassSet backlogged_ = 0;
};

}  // namespace spillway::dispatch
