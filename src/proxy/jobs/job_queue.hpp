// The jobs of this process: one thread with the store. It commits workers' calls in groups
// (adaptive group commit: calls that wait when a commit ends go into the next one, without a
// timer), and pulls jobs (JobDispatcher).
//
// Thread-safe except for start() and stop().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/withdrawal.hpp"
#include "jobs/estimate.hpp"
#include "observe/count/job_counts.hpp"
#include "observe/snapshot/jobs_snapshot.hpp"
#include "proxy/jobs/call_queue.hpp"
#include "proxy/jobs/doorbell.hpp"
#include "proxy/jobs/job_dispatcher.hpp"
#include "proxy/jobs/keys_in_flight.hpp"
#include "proxy/jobs/lookup_limit.hpp"
#include "proxy/jobs/store_call.hpp"
#include "proxy/jobs/store_condition.hpp"
#include "store/contract/job_store.hpp"

namespace spillway::proxy {

class JobQueue {
 public:
  // Opens the store; called repeatedly while the store is unavailable or its disk is full.
  using Open = std::function<store::Opened()>;

  JobQueue(Open open, JobDispatcher::Acts acts,
           std::function<void(const store::Failure&)> on_failure, std::string proxy_name);
  ~JobQueue() { stop(); }
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  // nullopt, or why there can be no store. One that cannot be reached now, or whose disk is full,
  // is waited for.
  std::optional<store::Failure> start(JobRoutes routes);
  // Commits waiting calls, gives back jobs that this proxy has leased, and ends the thread.
  void stop();

  // False, without effect: the store is unavailable, or too many calls wait. A Settle is always
  // taken: it is kept until the store is back.
  bool submit(StoreCall& call);
  // While the store hangs: a call that is not yet on its way there is not executed. Too late also
  // for a call that the store is likely to answer soon.
  Withdrawal withdraw(StoreCall& call);
  // Keeps a refused request for the operator, without waiting: `written` is called on the store's
  // thread once it is durable. `most`: the most dead jobs of its route that are kept, apart from
  // those that other proxies add within a second.
  enum class Buried : std::uint8_t { taken, full, unavailable };
  Buried bury(jobs::NewJob job, jobs::Cause cause, std::uint64_t most,
              std::function<void()> written);
  // Whether there is room; to be checked before the request is copied.
  bool may_bury(const std::string& route, std::uint64_t most) const;
  // How many of Spillway's own requests may be posted now.
  std::size_t room_for_notices() const;
  // Stores one of them, without waiting: `written` is called on the store's thread, with whether it
  // is stored. False, without effect: there is no room. Their order is that of their jobs.
  bool post(jobs::NewJob job, std::uint64_t max_pending, std::function<void(bool)> written);
  // Delivers the watch when the job's state changes, or may have changed; once, unless it is
  // withdrawn before.
  void watch(JobWatch& watch);
  Withdrawal unwatch(JobWatch& watch);
  void configure(JobRoutes routes);
  void stop_pulling();
  // The route's upstream has refused a job that is not settled yet (RouteCapacity::refused).
  void refused(const std::string& route, Duration pause);
  // A job got its slot: there may be room for another one.
  void job_started();

  observe::JobCounts& counts() { return counts_; }
  // For clients that ask about their jobs.
  LookupLimit& lookups() { return lookups_; }
  // Keys of requests that are answered now, or on their way here.
  KeysInFlight& keys_in_flight() { return keys_in_flight_; }
  // Withdrawals of jobs that a worker has but has not sent.
  Withdrawals& withdrawals() { return dispatcher_.withdrawals(); }
  // The rate at which jobs of the route may begin.
  jobs::BeginRate& begin_rate(const std::string& route) { return dispatcher_.begin_rate(route); }
  const StoreCondition& condition() const { return condition_; }
  bool is_full() const { return condition_.is_full(); }
  // Submitted calls are likely to be answered soon.
  bool is_available() const { return condition_.is_available() && !condition_.hangs(Clock::now()); }
  observe::JobsSnapshot snapshot() const;
  // The time at which jobs are accepted, due and ended.
  jobs::WallTime wall_now() const { return dispatcher_.clock().now(); }
  // Time after which a job at this position of its lane (0: behind all) is likely to have ended. It
  // is not tried before `least` is over.
  std::chrono::seconds retry_after(std::uint64_t position,
                                   Milliseconds least = Milliseconds{0}) const;
  // Workers end what they have in hand before this lease ends.
  const Lease& lease() const { return dispatcher_.lease(); }
  std::size_t in_hand() const { return counts_.in_hand.load(std::memory_order_relaxed); }

 private:
  using Batch = CallQueue::Batch;
  // Data for predicting when jobs will have ended.
  struct Outlook {
    jobs::Estimate estimate;
    std::size_t lanes = 0;  // lanes that take turns
  };
  // Messages that the thread has not taken yet.
  struct Told {
    std::optional<JobRoutes> routes;
    std::map<std::string, Duration> refused;  // by route
    bool to_stop = false;
    bool to_stop_pulling = false;
    bool of_job_started = false;
    bool is_asleep = false;  // the thread sleeps and has to be woken
  };

  void run();
  void turn();
  Batch take_batch();
  bool has_place_for_letter(const std::string& route, std::uint64_t most) const;
  bool wait_for_work();
  bool has_work() const;
  bool listen();
  bool is_to_wake();
  void wake();
  void tell_of_keys(std::vector<store::Command>& wanted);
  void name_asker(StoreCall& call) const;
  void check_taken(const store::Command& command);
  void let_go_later(const store::Command& command);
  bool open_again();
  void execute(Batch& batch);
  void succeeded(Batch& batch, Duration took);
  void failed(Batch& batch, const store::Failure& failure);
  void hold_back(const StoreCall& call, TimePoint now);
  void note(store::Totals totals);
  void notify(const store::Command& command);
  void notify(const jobs::JobId& id);
  void notify_all();
  void note_opened(const store::Failure& failure);
  void answer(StoreCall& call);
  void deliver(StoreCall& call);
  bool finish();
  void give_up_waiting();

  Open open_;
  std::function<void(const store::Failure&)> on_failure_;
  observe::JobCounts counts_;
  std::unique_ptr<store::JobStore> store_;
  StoreCondition condition_;
  std::uint64_t max_bytes_ = 0;
  LookupLimit lookups_;
  KeysInFlight keys_in_flight_;
  std::thread thread_;

  Doorbell bell_;
  mutable std::mutex mutex_;  // guards:
  CallQueue calls_;
  // By route: letters buried since the totals were read, or waiting to be.
  std::map<std::string, std::uint64_t> buried_;
  Told told_;
  observe::JobsSnapshot seen_;
  std::multimap<jobs::JobId, JobWatch*> watches_;
  Outlook outlook_;

  // Used only by the thread:
  JobDispatcher dispatcher_;
  std::vector<std::unique_ptr<StoreCall>> own_;  // its own calls in the current batch
  TimePoint try_at_{};                           // when to try the store again
};

}  // namespace spillway::proxy
