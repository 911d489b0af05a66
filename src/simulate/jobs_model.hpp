// The deferred requests of a simulation, the jobs: the store, which keeps those that wait, and the
// dispatcher, which pulls them as their upstream has room.
//
// Pure, in memory: a durable store answers at once and never fails. The jobs of a route wait in the
// order in which they are due; routes take turns, those of a higher class first. Tenants of a route
// take no turns of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "base/state.hpp"
#include "base/time.hpp"
#include "config/defer.hpp"
#include "simulate/recording.hpp"
#include "simulate/request.hpp"
#include "simulate/scenario.hpp"

namespace spillway::simulate {

class JobsModel {
 public:
  // Keeps a reference. The run begins at `begin`.
  JobsModel(const Scenario& scenario, TimePoint begin);

  // Whether requests can become jobs.
  bool is_in_use() const { return is_in_use_; }

  // A request was deferred and is a job from now on; false: as many of its route wait as may.
  bool accept(Request& job, TimePoint now);
  // The jobs of one route that may be handed to the gate now; empty: none may.
  std::vector<Request*> pull(State state, TimePoint now);

  // The next waiting job whose time to live was over when it was due; nullptr: no more.
  Request* expire(TimePoint now);

  // A job that was pulled got a slot.
  void begin() { ++running_; }

  // How a job that has begun ended.
  enum class Attempt : std::uint8_t {
    answered,
    failed,      // an error; it may be tried again
    unanswered,  // sent: tried again only if the route says so
    never_sent,  // no connection: no attempt is counted, and its route pauses
  };
  // Whether it is to be tried again: then a copy of it must be put_back().
  bool end(const Request& job, Attempt how, TimePoint now);
  // The next attempt of a job, after a pause with full jitter.
  void put_back(Request& again, Attempt how, TimePoint now);
  // A pulled job for which no retry budget is left: waits as after the attempt that failed and the
  // least pause more, and nothing is counted.
  void put_off(Request& job, TimePoint now);
  // A pulled job that got no slot: waits for a while, and nothing is counted.
  void give_back(Request& job, TimePoint now);

  // So far; the waits of those that wait now included.
  JobsSummary summary(TimePoint now) const;
  std::size_t pending() const { return pending_.size(); }  // not ended
  std::uint64_t done() const { return summary_.done; }

 private:
  struct Earlier {
    bool operator()(const Request* a, const Request* b) const {
      const DeferredJob &first = *a->as_job, &second = *b->as_job;
      return first.due != second.due ? first.due < second.due : first.number < second.number;
    }
  };
  struct Lane {
    const config::Defer* defer = nullptr;  // null: none of its requests are deferred
    std::set<Request*, Earlier> waiting;
    std::size_t in_hand = 0;
    TimePoint paused_until{};
    Duration last_pause{};
    double tokens = 1;  // of `rate`
    TimePoint refilled{};
    std::uint64_t turn = 0;  // when it was last pulled from

    std::uint8_t rank() const;
  };

  Lane& lane_of(const Request& job);
  Duration pause_after(const Request& job);
  std::size_t room(Lane& lane, State state, TimePoint now) const;
  static void refill(Lane& lane, double rate, TimePoint now);
  Lane* next_lane(State state, TimePoint now);
  void leave_hand(const Request& job);
  void forget(const Request& job, TimePoint now);

  const Scenario& scenario_;
  Random random_;
  bool is_in_use_ = false;
  std::vector<Lane> lanes_;                     // by route
  std::map<std::uint64_t, TimePoint> pending_;  // when they were accepted, by number
  std::size_t in_hand_ = 0;
  std::size_t running_ = 0;
  std::uint64_t turns_ = 0;
  std::uint64_t numbers_ = 0;
  TimePoint begin_;
  JobsSummary summary_;
};

}  // namespace spillway::simulate
