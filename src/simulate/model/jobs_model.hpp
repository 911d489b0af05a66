// The deferred requests of a simulation, the jobs: the store, which holds waiting jobs, and the
// dispatcher, which pulls them when their upstream has room. Turns, room, retries and ends use the
// proxy's own code (jobs/rotor.hpp, route_capacity.hpp, life.hpp).
//
// Pure, in memory: the modelled store is durable, answers at once and never fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/state.hpp"
#include "base/time.hpp"
#include "config/defer.hpp"
#include "jobs/begin_rate.hpp"
#include "jobs/rotor.hpp"
#include "jobs/route_capacity.hpp"
#include "simulate/model/request.hpp"
#include "simulate/recording/recording.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

class JobsModel {
 public:
  // Keeps a reference to `scenario`. The run begins at `begin`.
  JobsModel(const Scenario& scenario, TimePoint begin);

  // Whether requests can become jobs.
  bool is_in_use() const { return is_in_use_; }

  // A request was deferred and becomes a job; false: its route has its maximum of waiting jobs.
  bool accept(Request& job, TimePoint now);
  // The jobs of one batch, which may be passed to the gate now; empty: none may.
  std::vector<Request*> pull(State state, TimePoint now);

  // The next waiting job whose time to live is over; nullptr: none.
  Request* expire(TimePoint now);

  // When the rate of its route may allow a pulled job to begin. Until then it is held and does not
  // wait for a slot.
  TimePoint begins_from(const Request& job, TimePoint now) const;
  void hold(const Request& job) { ++ranks_[job.as_job->lane.rank].held; }
  void let_go(const Request& job) { --ranks_[job.as_job->lane.rank].held; }
  // Call when it has a slot; false: the rate does not allow it to begin.
  bool may_begin(const Request& job, TimePoint now);
  // A job begins.
  void begin(std::uint8_t rank = jobs::kLowestRank) { ++ranks_[rank].running; }
  // A job that has begun has ended in this way; none: all circuits were open, so that it waits
  // again, and nothing is counted. Returns its next state if it is to be tried again: then a copy
  // of it must be put_back(). If it was never sent, or circuits were open, its route pauses.
  std::optional<jobs::Progress> end(const Request& job, jobs::Cause how, TimePoint now);
  void put_back(Request& again, const jobs::Progress& progress);
  // Puts off a pulled job for which no retry budget is left.
  void put_off(Request& job, TimePoint now);
  // Returns a pulled job that got no slot: its route pauses.
  void give_back(Request& job, jobs::NoSlot how, TimePoint now);

  // So far; includes the waits of jobs that wait now.
  JobsSummary summary(TimePoint now) const;
  std::size_t pending() const { return pending_.size(); }  // not ended
  std::uint64_t done() const { return summary_.done; }

 private:
  struct Earlier {
    bool operator()(const Request* a, const Request* b) const {
      const DeferredJob &first = *a->as_job, &second = *b->as_job;
      const jobs::WallTime due = first.progress.due, other = second.progress.due;
      return due != other ? due < other : first.number < second.number;
    }
  };
  using Waiting = std::set<Request*, Earlier>;
  struct Route {
    const config::Defer* defer = nullptr;  // null: none of its requests are deferred
    jobs::RouteCapacity room;
    jobs::BeginRate begins;
    std::size_t waiting = 0;
  };

  // Jobs of one rank.
  struct Rank {
    std::size_t in_hand = 0;
    std::size_t running = 0;
    std::size_t held = 0;
  };

  jobs::RouteCapacity::Upstream upstream(std::uint8_t rank) const;
  bool has_room_for(const jobs::Lane& lane, const config::Defer& defer) const;
  const Route& route_of(const Request& job) const { return routes_.at(job.as_job->lane.route); }
  Route& route_of(const Request& job) { return routes_.at(job.as_job->lane.route); }
  void wait(Request& job, const jobs::Progress& progress);
  void take(Request& job);
  void tell_lanes(TimePoint now);
  std::vector<jobs::Rotor::Turn> turns(State state, TimePoint now);
  std::vector<Request*> claim(const jobs::Rotor::Turn& turn, TimePoint now);
  void leave_hand(const Request& job);
  void forget(const Request& job, TimePoint now);

  const Scenario& scenario_;
  Random random_;
  bool is_in_use_ = false;
  std::map<std::string, Route> routes_;  // by name
  jobs::Rotor rotor_;
  std::map<jobs::Lane, Waiting> waiting_;
  std::map<std::pair<jobs::WallTime, std::uint64_t>, Request*> expiring_;  // of waiting jobs
  std::map<std::uint64_t, TimePoint> pending_;  // time of acceptance, by number
  std::map<std::uint8_t, Rank> ranks_;
  std::uint64_t numbers_ = 0;
  TimePoint lanes_at_{};  // when the rotor gets the lanes again
  TimePoint begin_;
  JobsSummary summary_;
};

}  // namespace spillway::simulate
