// One event loop on one thread, and everything its requests use without asking anyone else:
// connections, buffers, upstream pools, admission plans, counters, random numbers.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "observe/log.hpp"
#include "observe/worker_metrics.hpp"
#include "proxy/exchange/client_connection.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/exchange/tunnel.hpp"
#include "proxy/exchange/tunnel_permit.hpp"
#include "proxy/generation/generation.hpp"
#include "proxy/generation/local_generation.hpp"
#include "proxy/net/block_pool.hpp"
#include "proxy/net/event_loop.hpp"
#include "proxy/net/heartbeat.hpp"
#include "proxy/net/mailbox.hpp"
#include "proxy/net/pipe.hpp"
#include "proxy/worker/accept_resume.hpp"
#include "proxy/worker/sweep.hpp"
#include "resilience/token_bucket.hpp"

namespace spillway::proxy {

class Worker {
 public:
  // What the workers share; outlives them.
  struct Shared {
    std::vector<std::unique_ptr<Worker>>& workers;
    observe::Log& log;
    TunnelPermits& tunnel_places;
    AcceptResume& room;
  };

  // Begins with that generation, whose `metrics` has a place for it.
  Worker(std::size_t number, const Shared& shared, std::shared_ptr<Generation> generation,
         std::uint64_t seed);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Serves until stop(); call it on the worker's own thread.
  void run();
  // Once no worker runs any more: ends every exchange and upstream connection.
  void abandon();

  // From any thread:
  void stop();
  void begin_drain();
  // Requests that begin from now on keep to that generation, whose upstreams have these plans.
  void replace(std::shared_ptr<Generation> generation, Plans plans, std::function<void()> done);
  // As if their client had left or their time were over.
  void end_requests_of(const Generation& generation);
  // The plan of one of that generation's upstreams.
  void publish(const std::shared_ptr<Generation>& generation, UpstreamId upstream,
               std::shared_ptr<const overload::AdmissionPlan> plan);
  // Hands over an accepted connection.
  void adopt(int descriptor, const ClientFacts& client, traffic::AddressCount::Place place);
  std::uint32_t connections() const { return connections_.load(); }
  std::size_t number() const { return number_; }
  EventLoop& loop() { return loop_; }
  TimePoint now() { return loop_.now(); }  // on its thread

  // On the worker's thread:
  // Its part of the newest generation: what a request that begins now keeps to.
  LocalGeneration& local() const { return *local_; }
  // Its part of that generation; null when it has none any more.
  LocalGeneration* find(const Generation& generation);
  observe::WorkerGauges& gauges() const { return *gauges_; }
  observe::Log& log() { return shared_.log; }
  AcceptResume& room() { return shared_.room; }
  TunnelPermits& tunnel_places() { return shared_.tunnel_places; }
  std::vector<std::unique_ptr<Worker>>& all() { return shared_.workers; }
  // The wall clock as an HTTP date (RFC 9110 section 5.6.7), to the second.
  std::string_view date() const { return {date_.data(), date_.size()}; }
  std::chrono::sys_seconds wall_time() const { return wall_time_; }  // 50 ms old at most
  void refresh_date();
  bool draining() const { return draining_; }
  TimePoint drain_began() const { return drain_began_; }

  // Bytes arrived on an idle connection: an exchange takes it over until it is idle again.
  void begin_exchange(ClientPtr client);
  void end_exchange(Exchange& exchange);
  // If there is room for it: what was just given out stale is asked for again.
  void begin_refresh(const Exchange& served);

  // Both connections go on without exchange or configuration, until end_tunnel().
  void begin_tunnel(std::unique_ptr<Tunnel> tunnel, ClientPtr client);
  void end_tunnel(Tunnel& tunnel);

  // Called by a client connection that begins or ends.
  void connection_opened();
  void connection_closed();

  // False for a tenant that was named lately, so that not every refusal need name it again.
  bool is_new_name(TenantId tenant) {
    TenantId& named = named_[static_cast<std::uint64_t>(tenant) % named_.size()];
    return std::exchange(named, tenant) != tenant;
  }
  // A refresh that failed is not tried again for a second.
  bool failed_lately(std::uint64_t key) const {
    const Failure& failure = failures_[key % failures_.size()];
    return failure.key == key && Clock::now() - failure.at < Milliseconds{1000};
  }
  void remember_failed(std::uint64_t key) {
    failures_[key % failures_.size()] = {key, Clock::now()};
  }
  // What shadow mode tells is held to ten lines a second.
  bool may_log_shadow() { return shadow_lines_.try_take(10, 10, Clock::now()); }

  Heartbeat heartbeat;        // of its loop, every 10 ms; any thread may look
  std::uint32_t pausing = 0;  // exchanges that will try again in a moment
  Random random;
  BlockPool small_blocks;  // a head
  BlockPool large_blocks;  // a larger head, or a piece of a body
  PipePool pipes;
  Mailbox mailbox;
  boost::intrusive::list<IdleHook, boost::intrusive::constant_time_size<false>> idle_clients;
  boost::intrusive::list<Exchange, boost::intrusive::constant_time_size<false>> exchanges;
  boost::intrusive::list<Tunnel, boost::intrusive::constant_time_size<false>> tunnels;
  // Its parts of all generations that requests still keep to, the newest last.
  boost::intrusive::list<LocalGeneration, boost::intrusive::constant_time_size<false>> generations;

 private:
  Exchange& take_exchange();

  static constexpr std::size_t kSmallBlock = 16 * 1024;
  static constexpr std::size_t kLargeBlock = 64 * 1024;
  static constexpr std::size_t kSpareExchanges = 1024;

  std::size_t number_;
  Shared shared_;
  std::shared_ptr<observe::WorkerGauges> gauges_;
  std::atomic<std::uint32_t> connections_{0};
  EventLoop loop_;  // the last connections end with it
  LocalGenerationPtr local_;
  std::vector<std::unique_ptr<Exchange>> spare_exchanges_;
  resilience::TokenBucket shadow_lines_;
  std::array<TenantId, 256> named_{};
  struct Failure {
    std::uint64_t key = 0;
    TimePoint at{};
  };
  std::array<Failure, 256> failures_{};
  bool draining_ = false;
  TimePoint drain_began_{};
  std::array<char, 29> date_{};
  std::chrono::sys_seconds wall_time_{};
  Sweep sweep_;
};

}  // namespace spillway::proxy
