// Pulls jobs from the store as their upstreams have room, and hands them to the workers.
//
// Runs on the store's thread. It appends its commands to the store to the thread's next batch
// (plan()), and takes their results from the answers (learn()). A worker gets a few more jobs than
// run, so that a slot that becomes free finds one waiting at the gate; the others stay in the
// store, where they can be cancelled and other proxies can take them.
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
  // Its effects on the rest of the process.
  struct Acts {
    std::function<void(jobs::LeasedJob, store::Epoch)> hand_over;  // to a worker
    std::function<void()> abort_all;  // the lease is lost: upstream requests are ended first
    // A job's state changed without an attempt here: the job expired, its proxy ended, it was
    // cancelled, replayed, given back at the end, or is Spillway's own. May be empty.
    JobLines::Tell tell{};
  };

  JobDispatcher(Acts acts, observe::JobCounts& counts, std::string proxy_name);

  // Sets the configuration in force.
  void configure(JobRoutes routes);
  // Other proxies use the store too.
  void share();
  // Pulls no more jobs.
  void stop_pulling();
  bool is_pulling() const { return is_pulling_; }
  // The rate that the next renewal reports to other proxies on the store: jobs per second.
  void tell_rate(double rate) { self_.rate = rate; }

  // The time of the machine's clock (JobClock::follow()).
  void follow_clock(jobs::WallTime machine, TimePoint now) { clock_.follow(machine, now); }
  // The lease is renewed with the next commands, since the store will then be busy for a while.
  void renew_now() { next_.renew = TimePoint{}; }
  // Appends the commands that are due.
  void plan(std::vector<store::Command>& commands, TimePoint now, jobs::WallTime wall);
  // Takes the results of commands from plan(), and of workers' calls.
  void learn(store::Command& command, TimePoint now, jobs::WallTime wall);
  // Another proxy has jobs in these lanes that it cannot take now, or a client that cancels a job.
  void heard(const store::Heard& heard, jobs::WallTime wall);
  void pause(const std::string& route, TimePoint now, TimePoint until);
  // A job of the route was refused: RouteCapacity::refused().
  void refused(const std::string& route, TimePoint now, TimePoint until);
  // A job got no slot. If it waited for one, another proxy may take it, or it has kept others
  // waiting that have to be alone; if there are no such proxies or jobs it waits again.
  void rest(const store::Settle& settle, TimePoint now, jobs::NoSlot how);
  // The jobs in hand were given back, and the registration ended.
  void left();
  // The store will not be asked again.
  void give_up_lines() { lines_.give_up(); }
  // A request of Spillway's own was stored.
  void posted(const jobs::NewJob& job) const;
  // The store failed: its commands will be sent again.
  void failed(TimePoint now);
  // When plan() will have a command.
  TimePoint next_due(TimePoint now, jobs::WallTime wall) const;

  store::Epoch epoch() const { return epoch_; }
  // The lease of all jobs in hand.
  const Lease& lease() const { return lease_; }
  // Thread-safe.
  const JobClock& clock() const { return clock_; }
  // Withdrawals of jobs that were handed over.
  Withdrawals& withdrawals() { return handed_.withdrawals(); }
  // The rate at which jobs of the route may begin.
  jobs::BeginRate& begin_rate(const std::string& route) { return handed_.begin_rate(route); }
  // The route of a job that this proxy has leased; null: it has not.
  const std::string* route_of(const store::Settle& settle) const {
    const auto leased = leased_.find(settle.id);
    return leased == leased_.end() ? nullptr : &leased->second.lane.route;
  }
  // Those of these routes from which no job is pulled for a while: they pause, or are gone.
  std::set<std::string, std::less<>> paused(const store::Totals& totals, TimePoint now) const;
  // The part that this proxy may use of the caps configured now.
  std::map<jobs::CapId, double> cap_shares();
  // Lanes with jobs that are due, as far as is known.
  std::size_t lanes_due() const { return rotor_.lanes_due(); }
  // Jobs that this proxy has leased.
  std::size_t in_hand() const { return leased_.size(); }
  // Jobs are in hand or wait for room, not counting those of a route that pauses or is gone.
  bool has_work(TimePoint now, jobs::WallTime wall) const;

 private:
  struct Leased {
    jobs::Lane lane;
    std::string upstream;   // upstream_of() when it was leased
    std::uint8_t rank;      // rank_of() its route when it was leased
    jobs::JobState before;  // the state in which it waited
    std::string tenant_name;
    jobs::Progress progress;
  };
  // What this proxy reports about itself to the store, and so to other proxies.
  struct Self {
    std::string name;
    double rate = 0;
    std::int64_t renewals = 0;
    store::Epoch former = 0;  // epoch of the lease that was lost; 0: none was
    jobs::CapShares shares{};
  };
  // The round through the lanes that the store knows, which it returns page by page.
  struct LanesRound {
    std::optional<jobs::Lane> after{};
    int pages = 0;
    int pages_before = 0;  // in the previous round
  };
  struct Claims {
    std::vector<jobs::Rotor::Turn> turns;  // for which the current batch claims
    bool are_lost = false;                 // it is unknown which jobs the last claim got, if any
  };
  // When periodic commands are sent again.
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
  std::map<jobs::JobId, Leased> leased_;  // under epoch_, or under the lost one
  std::map<std::string, JobsAtUpstream> at_upstream_;
  store::Epoch epoch_ = 0;  // 0: not joined
  bool is_pulling_ = true;
  Claims claims_;
  JobNews news_;
  JobLines lines_;
  TimePoint asked_at_{};  // when the lease was asked for
  Lease lease_;
  JobClock clock_;
  NextAt next_;
  LanesRound round_;
  HandedJobs handed_;
};

}  // namespace spillway::proxy
