// The deferred requests of a simulation, the jobs: the store, which keeps those that wait, and the
// dispatcher, which pulls them as their upstream has room. Turns, room, retries and ends are the
// proxy's own (jobs/rotor.hpp, route_capacity.hpp, life.hpp).
//
// Pure, in memory: a durable store answers at once and never fails.
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
  // Keeps a reference. The run begins at `begin`.
  JobsModel(const Scenario& scenario, TimePoint begin);

  // Whether requests can become jobs.
  bool is_in_use() const { return is_in_use_; }

  // A request was deferred and is a job from now on; false: as many of its route wait as may.
  bool accept(Request& job, TimePoint now);
  // The jobs that one batch brings, and that may be handed to the gate now; empty: none may.
  std::vector<Request*> pull(State state, TimePoint now);

  // The next waiting job whose time to live is over; nullptr: no more.
  Request* expire(TimePoint now);

  // When the rate of its route may let a job that was pulled begin. Until then it is held and waits
  // for no slot.
  TimePoint begins_from(const Request& job, TimePoint now) const;
  void hold(const Request& job) { ++ranks_[job.as_job->lane.rank].held; }
  void let_go(const Request& job) { --ranks_[job.as_job->lane.rank].held; }
  // It has a slot; false: the rate does not let it begin.
  bool may_begin(const Request& job, TimePoint now);
  // It begins.
  void begin(std::uint8_t rank = jobs::kLowestRank) { ++ranks_[rank].running; }
  // A job that has begun has ended like this; none: all circuits were open, so that it waits again,
  // and nothing is counted. What it waits as, if it is to be tried again: then a copy of it must be
  // put_back(). Never sent, or circuits open: its route pauses.
  std::optional<jobs::Progress> end(const Request& job, jobs::Cause how, TimePoint now);
  void put_back(Request& again, const jobs::Progress& progress);
  // A pulled job for which no retry budget is left.
  void put_off(Request& job, TimePoint now);
  // A pulled job that got no slot: its route rests.
  void give_back(Request& job, jobs::NoSlot how, TimePoint now);

  // So far; the waits of those that wait now included.
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
  std::map<std::pair<jobs::WallTime, std::uint64_t>, Request*> expiring_;  // of those that wait
  std::map<std::uint64_t, TimePoint> pending_;  // when they were accepted, by number
  std::map<std::uint8_t, Rank> ranks_;
  std::uint64_t numbers_ = 0;
  TimePoint lanes_at_{};  // when the rotor is told of lanes again
  TimePoint begin_;
  JobsSummary summary_;
};

}  // namespace spillway::simulate
