// One worker's keep-alive connections to one upstream, most recently used first.
//
// An idle connection keeps a read pending: end-of-file, a reset or stray bytes take it out of the
// pool at once. Over all workers at most `idle_connections` are idle, and busy + idle never exceed
// concurrency + workers: a backend with a thread per connection must not be filled up by idle
// sockets. Used on its worker's thread only, but for what UpstreamConnections shares.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "observe/worker_metrics.hpp"
#include "proxy/net/stream.hpp"
#include "proxy/upstream/in_flight.hpp"

namespace spillway::proxy {

// How many connections all workers together hold to an upstream. Shared, lock-free.
class ConnectionBudget {
 public:
  ConnectionBudget(std::uint32_t most_open, std::uint32_t most_idle)
      : most_open_(most_open), most_idle_(most_idle) {}

  bool try_open() { return try_increment(open_, most_open_); }
  void closed() { open_.fetch_sub(1, std::memory_order_relaxed); }
  bool try_idle() { return try_increment(idle_, most_idle_); }
  void not_idle() { idle_.fetch_sub(1, std::memory_order_relaxed); }

  std::uint32_t open() const { return open_.load(std::memory_order_relaxed); }
  std::uint32_t idle() const { return idle_.load(std::memory_order_relaxed); }

 private:
  static bool try_increment(std::atomic<std::uint32_t>& count, std::uint32_t most) {
    std::uint32_t now = count.load(std::memory_order_relaxed);
    while (now < most) {
      if (count.compare_exchange_weak(now, now + 1, std::memory_order_relaxed)) return true;
    }
    return false;
  }

  std::atomic<std::uint32_t> open_{0};
  std::atomic<std::uint32_t> idle_{0};
  std::uint32_t most_open_;
  std::uint32_t most_idle_;
};

class UpstreamPool;

class UpstreamConnection final : public Stream {
 public:
  // Takes over one place of the pool's budget; retire() or the destructor gives it back. In flight
  // at its server whenever it is not idle.
  UpstreamConnection(EventLoop& loop, UpstreamPool& pool, std::size_t server, int descriptor,
                     bool is_connected);

  bool reused() const { return reused_; }
  std::size_t server() const { return server_; }
  // Stays open without being one of the pool's: gives its place back and is not in flight any more.
  // For connections that outlast requests; they must not be given back to a pool.
  void leave_pool();
  // Closes the connection and frees its place at once, while callbacks may still be pending.
  void retire();

 private:
  friend class UpstreamPool;
  ~UpstreamConnection() override;
  void on_idle_readable() override;
  void become_idle(TimePoint now);
  void become_busy();

  UpstreamPool* pool_;  // null: it has left
  observe::WorkerGauges& gauges_;
  std::size_t server_;
  TimePoint idle_since_{};
  bool idle_ = false;
  bool reused_ = false;
  bool retired_ = false;
};

using UpstreamPtr = boost::intrusive_ptr<UpstreamConnection>;

class UpstreamPool {
 public:
  UpstreamPool(EventLoop& loop, ConnectionBudget& budget, InFlight& in_flight,
               observe::WorkerMetrics& metrics)
      : loop_(loop),
        budget_(budget),
        in_flight_(in_flight),
        gauges_(metrics.gauges),
        idle_(in_flight.servers()) {}
  UpstreamPool(const UpstreamPool&) = delete;
  UpstreamPool& operator=(const UpstreamPool&) = delete;

  // The idle connection to that server used last, if it was idle for less than `max_idle`.
  UpstreamPtr take(std::size_t server, Duration max_idle, TimePoint now);
  // Keeps a connection whose exchange ended cleanly, or closes it when there are enough.
  void give_back(UpstreamPtr connection, TimePoint now);
  // Makes room in the budget by closing the connection idle longest. False: none is idle here.
  bool close_one();
  void close_idle_since(TimePoint before);
  // Those to one server.
  void close_idle_to(std::size_t server);
  // From now on what is given back is closed.
  void keep_none() { keeps_ = false; }

  ConnectionBudget& budget() { return budget_; }
  // One more with each call: the servers take turns.
  std::uint64_t next_turn() { return next_turn_++; }

 private:
  friend class UpstreamConnection;
  void remove(UpstreamConnection& connection);

  EventLoop& loop_;
  ConnectionBudget& budget_;
  InFlight& in_flight_;
  std::shared_ptr<observe::WorkerGauges> gauges_;
  std::uint64_t next_turn_ = 0;
  bool keeps_ = true;
  std::vector<std::vector<UpstreamPtr>> idle_;  // by server, least recently used first
};

}  // namespace spillway::proxy
