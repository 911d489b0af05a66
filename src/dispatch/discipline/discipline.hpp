// The queueing discipline: picks the class whose next waiter gets the next free slot, and predicts
// for how many turns a newcomer waits.
//
// A discipline chooses between classes; within a class TenantQueue defines the order. Every call
// costs at most O(classes), whatever the queues' length, and allocates nothing. Ties go to the
// higher class (the smaller ClassId).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "dispatch/discipline/recent_turns.hpp"
#include "dispatch/queue/queues.hpp"

namespace spillway::dispatch {

// By class, > 0 for each existing class.
using Weights = std::array<double, kMaxClasses>;

// A request about to be queued, for the prediction of its wait.
struct Newcomer {
  ClassId traffic_class{};
  double ahead = 0;             // waiters of its class ahead of it
  TimePoint now{};              // of its arrival
  TimePoint deadline = kNever;  // the operator's; kNever: that of its class's youngest waiter
  double cost = 1;              // estimated milliseconds
  double hold = 0;              // mean seconds for which a slot is held
  double slots = 1;             // slots that its class competes for
};

class Discipline {
 public:
  Discipline(const Weights& weights, std::size_t classes)
      : weights_(weights), classes_(classes), recent_(classes) {}
  virtual ~Discipline() = default;
  Discipline(const Discipline&) = delete;
  Discipline& operator=(const Discipline&) = delete;

  // Which of the classes in `ready` (not empty, each with a waiter) to serve next. Charges no
  // class: if the waiter has expired, call it again.
  virtual ClassId pick(ClassSet ready, const Queues& queues, TimePoint now) = 0;

  // `waiter`, of the class picked last, got the slot and has left its queue.
  virtual void served(const Waiter& waiter, const Queues&) { passed(waiter); }

  // `waiter` got a slot without competition or by its class's guaranteed share: the class is not
  // charged, but the turn counts among its recent ones.
  virtual void passed(const Waiter& waiter) { recent_.record(waiter.served_as); }

  // How many turns of all classes pass until the newcomer is served, including its own.
  virtual double turns(const Newcomer& newcomer, const Queues& queues) const = 0;

  // Whether a class's share is proportional to its weight, so that DynamicWeight works.
  virtual bool shares_by_weight() const { return true; }

  // Whether shares refer to the upstream's time (Waiter::cost) rather than to turns.
  virtual bool shares_by_cost() const { return false; }

  double weight(ClassId id) const { return weights_[index(id)]; }
  void set_weight(ClassId id, double weight) { weights_[index(id)] = weight; }

 protected:
  Weights weights_;
  std::size_t classes_;
  RecentTurns recent_;
};

// Weights are the classes' egress weights, at most kMaxClasses of them.
std::unique_ptr<Discipline> make_discipline(const config::Dispatch& settings,
                                            std::span<const config::TrafficClass> classes);

}  // namespace spillway::dispatch
