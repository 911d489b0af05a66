// Pulls jobs from the store as their upstreams have room, and hands them to the workers.
//
// On the store's thread. What it asks of the store it appends to the thread's next batch (plan()),
// and learns from the answers (learn()). A worker is handed a few jobs more than run, so that a
// slot that gets free finds one waiting at the gate; the others stay in the store, where they can
// be cancelled and other proxies can have them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobs/cap_shares.hpp"
#include "jobs/life.hpp"
#include "jobs/poison_guard.hpp"
#include "jobs/rotor.hpp"
#include "jobs/route_capacity.hpp"
#include "observe/count/job_counts.hpp"
#include "proxy/jobs/handed_jobs.hpp"
#include "proxy/jobs/job_clock.hpp"
#include "proxy/jobs/job_lines.hpp"
#include "proxy/jobs/job_news.hpp"
#include "proxy/jobs/job_routes.hpp"
#include "proxy/jobs/jobs_at_upstream.hpp"
#include "proxy/jobs/lease.hpp"
#include "proxy/jobs/store_call.hpp"
#include "store/contract/job_store.hpp"

namespace spillway::proxy {

class JobDispatcher {
 public:
  // What it does to the rest of the process.
  struct Acts {
    std::function<void(jobs::LeasedJob, store::Epoch)> hand_over;  // to a worker
    std::function<void()> abort_all;  // the lease is lost: upstream requests are ended first
    // A job's state changed without an attempt here: it expired, its proxy ended, it was cancelled,
    // replayed, given back at the end, or is Spillway's own. May be empty.
    JobLines::Tell tell{};
  };

  JobDispatcher(Acts acts, observe::JobCounts& counts, std::string proxy_name);

  // The configuration in force.
  void configure(JobRoutes routes);
  // Other proxies are on the store.
  void share();
  // Pulls nothing more.
  void stop_pulling();
  bool is_pulling() const { return is_pulling_; }
  // What the others on the store are told with the next renewal: jobs per second.
  void tell_rate(double rate) { self_.rate = rate; }

  // The machine's clock tells that (JobClock::follow()).
  void follow_clock(jobs::WallTime machine, TimePoint now) { clock_.follow(machine, now); }
  // The lease is renewed with the next commands: the store will be busy for a while.
  void renew_now() { next_.renew = TimePoint{}; }
  // The commands that are due.
  void plan(std::vector<store::Command>& commands, TimePoint now, jobs::WallTime wall);
  // Of the commands that plan() asked for, and of workers' calls.
  void learn(store::Command& command, TimePoint now, jobs::WallTime wall);
  // Another proxy has jobs in these lanes that it cannot take now, or a client that cancels a job.
  void heard(const store::Heard& heard, jobs::WallTime wall);
  void pause(const std::string& route, TimePoint now, TimePoint until);
  // A job of the route was: RouteCapacity::refused().
  void refused(const std::string& route, TimePoint now, TimePoint until);
  // A job got no slot. One that waited in vain may be had by another proxy, or has kept others
  // waiting that have to be alone; where there are none it waits again.
  void rest(const store::Settle& settle, TimePoint now, jobs::NoSlot how);
  // What was in hand was given back, with the registration.
  void left();
  // The store is asked nothing more.
  void give_up_lines() { lines_.give_up(); }
  // A request of Spillway's own was written down.
  void posted(const jobs::NewJob& job) const;
  // The store failed: asks again what was asked.
  void failed(TimePoint now);
  // When plan() has something to ask for.
  TimePoint next_due(TimePoint now, jobs::WallTime wall) const;

  store::Epoch epoch() const { return epoch_; }
  // Of all that is in hand.
  const Lease& lease() const { return lease_; }
  // Thread-safe.
  const JobClock& clock() const { return clock_; }
  // Of what was handed over.
  Withdrawals& withdrawals() { return handed_.withdrawals(); }
  // At which jobs of the route may begin.
  jobs::BeginRate& begin_rate(const std::string& route) { return handed_.begin_rate(route); }
  // Of a job that this proxy has leased; null: it has not.
  const std::string* route_of(const store::Settle& settle) const {
    const auto leased = leased_.find(settle.id);
    return leased == leased_.end() ? nullptr : &leased->second.lane.route;
  }
  // Of these routes, those of which no job is pulled for a while: they pause, or are gone.
  std::set<std::string, std::less<>> paused(const store::Totals& totals, TimePoint now) const;
  // What this proxy may use of the caps that are configured now.
  std::map<jobs::CapId, double> cap_shares();
  // Lanes with jobs that are due, as far as is known.
  std::size_t lanes_due() const { return rotor_.lanes_due(); }
  // Jobs that this proxy has leased.
  std::size_t in_hand() const { return leased_.size(); }
  // Some are in hand, or wait for room: not those of a route that pauses or is gone.
  bool has_work(TimePoint now, jobs::WallTime wall) const;

 private:
  struct Leased {
    jobs::Lane lane;
    std::string upstream;   // upstream_of() at the time
    std::uint8_t rank;      // rank_of() its route at the time
    jobs::JobState before;  // in which it waited
    std::string tenant_name;
    jobs::Progress progress;
  };
  // What the store, and with it the other proxies, are told of this one.
  struct Self {
    std::string name;
    double rate = 0;
    std::int64_t renewals = 0;
    store::Epoch former = 0;  // of the lease that was lost; 0: none was
    jobs::CapShares shares{};
  };
  // Of the lanes that the store knows, which it tells page by page.
  struct LanesRound {
    std::optional<jobs::Lane> after{};
    int pages = 0;
    int pages_before = 0;  // of the round before
  };
  struct Claims {
    std::vector<jobs::Rotor::Turn> turns;  // claimed for in the batch under way
    bool are_lost = false;                 // what was claimed last, if anything, is not known
  };
  // When what is asked periodically is asked again.
  struct NextAt {
    TimePoint renew{};
    TimePoint lanes{};
    TimePoint sweep{};
    TimePoint totals{};
  };

  void plan_release(std::vector<store::Command>& commands) const;
  void plan_pull(std::vector<store::Command>& commands, TimePoint now, jobs::WallTime wall);
  void plan_announcement(std::vector<store::Command>& commands, TimePoint now, jobs::WallTime wall);
  std::optional<jobs::Rotor::Turn> next_turn(TimePoint now, jobs::WallTime wall);
  void end_turn(const jobs::Rotor::Turn& turn, std::size_t pulled);
  std::size_t most_more() const;
  std::size_t room(const std::string& name, TimePoint now);
  std::optional<TimePoint> room_from(const std::string& name, TimePoint now) const;
  std::optional<std::size_t> share_of(const std::string& route) const;
  jobs::CapShares::Caps caps() const;
  bool tells_shares() const;
  jobs::CapParts tell_parts();
  void set_rates();
  std::string upstream_of(const std::string& route) const;
  std::uint8_t rank_of(const std::string& route) const;
  void claimed(store::Claim& claim, jobs::WallTime wall);
  void found(const store::Lanes& lanes, TimePoint now);
  void settled(const store::Settle& settle, TimePoint now, jobs::WallTime wall);
  void swept(const store::Sweep& sweep, TimePoint now);
  void tell(const std::vector<jobs::JobId>& ids, jobs::JobState state, jobs::Cause cause);
  void cancelled(store::Cancel& cancel);
  void renewed(const store::Renew& renew, TimePoint now);
  void lose_lease();

  Acts acts_;
  observe::JobCounts& counts_;
  Self self_;
  JobRoutes routes_;
  jobs::Rotor rotor_;
  jobs::PoisonGuard poison_guard_;
  std::map<std::string, jobs::RouteCapacity, std::less<>> known_;
  std::map<jobs::JobId, Leased> leased_;  // under epoch_, or the one that was lost
  std::map<std::string, JobsAtUpstream> at_upstream_;
  store::Epoch epoch_ = 0;  // 0: not joined
  bool is_pulling_ = true;
  Claims claims_;
  JobNews news_;
  JobLines lines_;
  TimePoint asked_at_{};  // for the lease
  Lease lease_;
  JobClock clock_;
  NextAt next_;
  LanesRound round_;
  HandedJobs handed_;
};

}  // namespace spillway::proxy
