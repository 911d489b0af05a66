// The waiters of each class, and the set of classes that have any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "dispatch/queue/tenant_queue.hpp"
#include "dispatch/queue/waiter.hpp"

namespace spillway::dispatch {

using ClassSet = std::uint32_t;  // bit i: ClassId i
static_assert(kMaxClasses <= 32);

constexpr ClassSet set_of(ClassId id) { return ClassSet{1} << index(id); }

// How many of `count` times, spaced evenly between `first` and `last`, are not after `t`.
inline double count_until(TimePoint t, std::uint32_t count, TimePoint first, TimePoint last) {
  if (t < first) return 0;
  if (t >= last) return count;
  return 1 + (count - 1) * to_seconds(t - first) / to_seconds(last - first);
}

// Waiters by class.
using WaitingCounts = std::array<std::uint32_t, kMaxClasses>;

class Queues {
 public:
  // The maximum number of classes, for few waiters.
  Queues() {
    for (std::size_t i = 0; i < kMaxClasses; ++i) lists_.push_back(std::make_unique<TenantQueue>());
  }
  explicit Queues(std::span<const config::TrafficClass> classes) {
    for (const config::TrafficClass& one : classes)
      lists_.push_back(std::make_unique<TenantQueue>(one.max_queue));
  }

  // Adds it by its class served_as and its tenant; it must be in no queue.
  void push(Waiter& waiter) {
    const ClassId id = waiter.served_as;
    lists_[index(id)]->push(waiter);
    ++waiting_[index(id)];
    backlogged_ |= set_of(id);
  }

  // Removes it from any position in its queue; it must be in it.
  void remove(Waiter& waiter) {
    const ClassId id = waiter.served_as;
    lists_[index(id)]->remove(waiter);
    if (--waiting_[index(id)] == 0) backlogged_ &= ~set_of(id);
  }

  // `waiter` has left its queue because it got a slot.
  void served(const Waiter& waiter) { lists_[index(waiter.served_as)]->served(waiter); }

  // nullptr if the class has no waiter. next() is the waiter that gets a slot given to the class.
  const Waiter* next(std::size_t i) const { return lists_[i]->next(); }
  const Waiter* foremost(std::size_t i) const { return lists_[i]->foremost(); }
  const Waiter* oldest(std::size_t i) const { return lists_[i]->oldest(); }
  const Waiter* youngest(std::size_t i) const { return lists_[i]->youngest(); }
  Waiter* next(ClassId id) { return lists_[index(id)]->next(); }

  const TenantQueue& of(ClassId id) const { return *lists_[index(id)]; }
  void set_newest_first(ClassId id, bool newest_first) {
    lists_[index(id)]->set_newest_first(newest_first);
  }

  std::uint32_t waiting(ClassId id) const { return waiting_[index(id)]; }
  const WaitingCounts& waiting() const { return waiting_; }
  ClassSet backlogged() const { return backlogged_; }  // the classes with a waiter

 private:
  std::vector<std::unique_ptr<TenantQueue>> lists_;  // by class
  WaitingCounts waiting_{};
  ClassSet backlogged_ = 0;
};

}  // namespace spillway::dispatch
