// One worker's keep-alive connections to one upstream, most recently used first.
//
// Bytes that no request asked for would be taken for the response to the next request, which is
// another client's. They usually follow closely after a response. So a connection is used again
// once the loop has looked at it since its response and found nothing, as in NGINX and HAProxy; if
// there is none that it has looked at, the connection itself is checked, which costs a system call.
//
// Idle connections are watched for input: end-of-file, a reset or stray bytes remove one from the
// pool at once. Over all workers at most `idle_connections` are idle, and busy + idle never exceed
// concurrency + workers x servers: idle sockets must not occupy all threads of a backend that has
// one per connection. With an automatic limit, none is kept beyond what the most slots of the last
// ten seconds need, plus those spare ones. Worker thread only, except ConnectionBudget.
#pragma once

#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "observe/count/worker_metrics.hpp"
#include "proxy/net/connection_budget.hpp"
#include "proxy/net/stream.hpp"
#include "resilience/in_flight_counts.hpp"

namespace spillway::proxy {

class UpstreamPool;

struct UpstreamIdleHook
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
};

class UpstreamConnection final : public Stream, public UpstreamIdleHook {
 public:
  // Takes over one unit of the pool's budget, acquired by the caller; retire() or the destructor
  // releases it. Counts as in flight at its server while not idle.
  // `address`: index of the server's address.
  UpstreamConnection(EventLoop& loop, UpstreamPool& pool, std::size_t server, int descriptor,
                     bool is_connected, std::size_t address = 0);

  bool reused() const { return reused_; }
  std::size_t server() const { return server_; }
  std::size_t address() const { return address_; }
  // Detaches from the pool: releases the budget and the in-flight count, but stays open. For
  // connections that outlive their request (tunnels, event streams). Not for give_back().
  void leave_pool();
  // Closes the connection and releases the budget at once; callbacks may still be pending.
  void retire();

 private:
  friend class UpstreamPool;
  ~UpstreamConnection() override;
  void on_idle_readable() override;
  void become_idle(TimePoint now);
  void become_busy();
  void close_idle();

  UpstreamPool* pool_;  // null after leave_pool()
  observe::WorkerGauges& gauges_;
  std::size_t server_;
  std::size_t address_;
  resilience::InFlightCounts::Trial trial_ = 0;  // while not idle: the trial in which it was sent
  TimePoint idle_since_{};
  std::uint64_t looks_when_idle_ = 0;  // see EventLoop
  bool idle_ = false;
  bool reused_ = false;
  bool retired_ = false;
};

using UpstreamPtr = boost::intrusive_ptr<UpstreamConnection>;

class UpstreamPool {
 public:
  UpstreamPool(EventLoop& loop, ConnectionBudget& budget, resilience::InFlightCounts& in_flight,
               observe::WorkerMetrics& metrics)
      : loop_(loop),
        budget_(budget),
        in_flight_(in_flight),
        gauges_(metrics.gauges),
        idle_(in_flight.servers()) {}
  UpstreamPool(const UpstreamPool&) = delete;
  UpstreamPool& operator=(const UpstreamPool&) = delete;

  // An idle connection to `server` that has been idle for less than `max_idle`; or null.
  UpstreamPtr take(std::size_t server, Duration max_idle, TimePoint now);
  // Keeps a connection whose exchange ended cleanly, or closes it if the idle limit is reached or
  // more connections are open than are needed.
  void give_back(UpstreamPtr connection, TimePoint now);
  // Call it before another one is opened: if as many as are needed are open, closes an idle one.
  void make_room();
  // Frees budget by closing the connection idle longest. False: none is idle on this worker.
  bool close_one();
  void close_idle_since(TimePoint before);
  void close_idle_to(std::size_t server);
  // From now on give_back() closes.
  void disable_keep_alive() { keep_alive_ = false; }

  ConnectionBudget& budget() { return budget_; }
  // The round-robin counter.
  std::uint64_t next_turn() { return next_turn_++; }

 private:
  friend class UpstreamConnection;
  // To one server, least recently used first. They are open, so they keep themselves alive.
  using Idle =
      boost::intrusive::list<UpstreamConnection, boost::intrusive::constant_time_size<false>>;

  bool was_seen_quiet(const UpstreamConnection& connection) const;

  EventLoop& loop_;
  ConnectionBudget& budget_;
  resilience::InFlightCounts& in_flight_;
  std::shared_ptr<observe::WorkerGauges> gauges_;
  std::uint64_t next_turn_ = 0;
  bool keep_alive_ = true;
  std::vector<Idle> idle_;  // by server
};

}  // namespace spillway::proxy
