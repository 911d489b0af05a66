// A worker's periodic passes, which replace a timer per operation.
//
// Every 10 ms: measures the event-loop lag (how late its own timer fires, and how long the oldest
// new request has waited), expires waiters at the gates, resumes exchanges whose pause before a
// retry is over, checks clients that hold slots for which others wait. Every 50 ms: ends waits past
// their deadline, detects clients that left, closes connections idle for longer than
// idle_timeout_ms. While clients wait to be accepted it closes as many idle connections, or
// connections of silent clients (silence.hpp); if these are too few, lets connections end with
// their next response. Every second: frees memory that a burst has left in the pools.
#pragma once

#include <poll.h>

#include <boost/intrusive/list.hpp>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "overload/signals/lag.hpp"
#include "proxy/call/abandoned_call.hpp"
#include "proxy/deferral/job_run.hpp"
#include "proxy/exchange/background_refresh.hpp"
#include "proxy/exchange/tunnel.hpp"
#include "proxy/http1/http1_session.hpp"
#include "proxy/net/heartbeat.hpp"
#include "proxy/net/loop_timer.hpp"
#include "proxy/request/owner/client_connection.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/request/owner/swept.hpp"
#include "proxy/visitors/visitor_stream.hpp"

namespace spillway::proxy {

// A worker's active objects.
struct SweptLists {
  template <class T>
  using List = boost::intrusive::list<T, boost::intrusive::constant_time_size<false>>;

  List<IdleHook> idle_clients;  // connections, least recently used first
  List<Http1Session> sessions;
  List<BackgroundRefresh> refreshes;
  List<JobRun> jobs;
  List<AbandonedCall> abandoned;
  List<VisitorStream> visitor_streams;
  List<Tunnel> tunnels;
  List<LocalGeneration> generations;  // pinned by requests, newest last
};

class Sweep {
 public:
  Sweep(Services& services, SweptLists& lists);

  void start();
  // The pass that start() repeats every 50 ms, at this time.
  void sweep(TimePoint now);
  void begin_drain(TimePoint now) { drain_began_ = now; }
  // Ends the requests pinned to that generation. Uses only its address.
  void end_requests_of(const Generation& generation);
  // Their lease is lost: ends the attempts of all jobs.
  void abort_jobs();
  // Gives jobs back: all of them, closing their upstream requests, or those that have no slot yet.
  void give_back_jobs(bool all);
  const Heartbeat& heartbeat() const { return heartbeat_; }
  // Like Owner::ends_with_response().
  bool ends_with_response(ClientConnection& client, bool has_next);

 private:
  static constexpr Milliseconds kSweepPeriod{50};

  std::vector<JobRun*> jobs() const;
  void arm();
  void on_timer();
  void count_ghosts(LocalGeneration& local);
  void gather();
  void wake_late(TimePoint now);
  void watch_slots(TimePoint now);
  void wake_abandoned();
  void break_tunnels();
  void publish_ages(TimePoint now);
  void withdraw_promises(TimePoint now);
  std::size_t most_giving_way() const;
  void close_idle(TimePoint now, std::size_t& giving_way);
  void end_silent(TimePoint now, std::size_t& giving_way);
  void take_turns(TimePoint now, std::size_t giving_way);

  Services& services_;
  SweptLists& lists_;
  LoopTimer timer_;
  Heartbeat heartbeat_;
  overload::LoopLag lag_;
  overload::LoopUse use_;
  TimePoint due_{};
  TimePoint next_sweep_{};
  TimePoint drain_began_{};
  std::uint32_t sweeps_ = 0;
  struct Turns {
    // This many served connections may end with their next response before the next pass. New ones
    // without a response yet end with it regardless of this.
    std::size_t may_leave = 0;
    // Since when too few have given way in each pass.
    TimePoint too_few_since = kNever;
  };
  Turns turns_;
  // Reused in each pass:
  std::vector<pollfd> polled_;
  std::vector<Swept*> swept_;
  std::vector<Swept*> watched_;
  std::vector<std::pair<Silence, Http1Session*>> silent_;
  std::vector<Tunnel*> tunnels_;
  std::vector<Swept::AwaitedHead> awaited_;
  std::vector<Duration> ages_;
  std::vector<double> relative_ages_;
  std::vector<dispatch::ShadowGate::Event> ghosts_;
};

}  // namespace spillway::proxy
