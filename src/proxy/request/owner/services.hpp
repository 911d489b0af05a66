// What a worker lends to the exchanges, sessions and tunnels on its thread (Services), and the
// interface by which they call it back (Owner).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/ids.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "http/caching/date.hpp"
#include "observe/count/worker_metrics.hpp"
#include "observe/log/log.hpp"
#include "proxy/generation/local_generation.hpp"
#include "proxy/net/block_pool.hpp"
#include "proxy/net/event_loop.hpp"
#include "proxy/net/mailbox.hpp"
#include "proxy/net/pipe.hpp"
#include "proxy/net/temp_file.hpp"
#include "proxy/request/owner/owned.hpp"
#include "proxy/request/owner/tunnel_permit.hpp"
#include "resilience/token_bucket.hpp"

namespace spillway::proxy {

class ClientConnection;
class JobQueue;

// The worker, as seen by the objects that it owns. Called on its thread.
class Owner {
 public:
  // The generation for requests that begin now.
  virtual LocalGeneration& newest_generation() = 0;

  // A client's connection was opened, became idle, became readable again, or was closed
  // (`gave_way`: to make room for a client that waits to be accepted).
  virtual void connection_opened() = 0;
  virtual void connection_idle(ClientConnection& client) = 0;
  virtual void connection_active(ClientConnection& client) = 0;
  virtual void connection_closed(bool gave_way) = 0;
  // Clients wait to be accepted, because limits.connections connections are open or no descriptor
  // is left, and too few connections are about to end to make room for them.
  virtual bool needs_room() = 0;
  // The connection is about to end to make room for a waiting client. False: there is no need.
  virtual bool give_way(ClientConnection& client) = 0;
  // The end of that connection takes too long, so another one may end instead.
  virtual void give_way_no_more(ClientConnection& client) = 0;
  // Whether it gives way with the response that begins now. `has_next`: bytes of another request
  // have been received, which would be lost.
  virtual bool ends_with_response(ClientConnection& client, bool has_next) = 0;

  // Every second: frees memory that a burst has left in the pools.
  virtual void give_back_memory() = 0;

  // The worker owns the object, which is on the heap, until end(): the sweep visits it, and
  // abandon() destroys it if the worker's loop ends before that. The worker already owns sessions.
  virtual void begin(Owned& object) = 0;
  // The object has ended and is destroyed; a session may instead serve another connection.
  virtual void end(Owned& object) = 0;

  // Has another worker close an idle connection to this upstream; wakes `asker` once one is closed,
  // or if none could be. The asker keeps the generation alive meanwhile.
  virtual void close_idle_elsewhere(const Generation& generation, UpstreamId upstream,
                                    Parking& asker) = 0;

 protected:
  ~Owner() = default;
};

// The wall clock, read a few times a second.
class WallClock {
 public:
  void refresh() {
    now_ = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    text_ = http::date_text(now_);
  }
  // As an HTTP-date (RFC 9110 section 5.6.7).
  std::string_view date() const { return {text_.data(), text_.size()}; }
  std::chrono::sys_seconds now() const { return now_; }

 private:
  std::chrono::sys_seconds now_{};
  http::DateText text_{};
};

// Recent events, for rate limiting.
class RecentEvents {
 public:
  // Records that the tenant is named. False: it was named recently; not every refusal names it.
  bool note_name(TenantId tenant) {
    TenantId& named = named_[static_cast<std::uint64_t>(tenant) % named_.size()];
    return std::exchange(named, tenant) != tenant;
  }
  // A background revalidation that failed is not retried for a second.
  bool failed_lately(std::uint64_t key, TimePoint now) const {
    const Failure& failure = failures_[key % failures_.size()];
    return failure.key == key && now - failure.at < Milliseconds{1000};
  }
  void remember_failed(std::uint64_t key, TimePoint now) {
    failures_[key % failures_.size()] = {key, now};
  }
  // An answer could not be sent because the answers of slow clients use up the memory for them.
  void miss_memory(TimePoint now) { missed_memory_ = now; }
  bool missed_memory_lately(TimePoint now) const { return now - missed_memory_ < kMissed; }
  // At most ten log lines of shadow mode a second.
  bool may_log_shadow(TimePoint now) { return shadow_lines_.try_take(10, 10, now); }
  // At most one log line about temporary files in ten seconds.
  bool may_log_temp_file(TimePoint now) { return temp_file_lines_.try_take(0.1, 1, now); }

 private:
  struct Failure {
    std::uint64_t key = 0;
    TimePoint at{};
  };
  static constexpr Duration kMissed = std::chrono::seconds(10);

  std::array<TenantId, 256> named_{};
  std::array<Failure, 256> failures_{};
  TimePoint missed_memory_{};
  resilience::TokenBucket shadow_lines_;
  resilience::TokenBucket temp_file_lines_;
};

// Slots wait for clients, and other requests for these slots.
struct SlotWatch {
  // The sweep checks these clients every 10 ms for a while.
  void begin(TimePoint now) { until = now + std::chrono::seconds(1); }
  bool is_on(TimePoint now) const { return now < until; }

  TimePoint until{};
};

struct Services {
  Owner& owner;
  EventLoop& loop;
  observe::Log& log;
  observe::WorkerGauges& gauges;
  TunnelPermits& tunnel_permits;  // shared by all workers
  TempSpace& temp_space;          // likewise
  JobQueue* jobs;                 // shared by all workers; null: there is no store for jobs
  Random random;
  BlockPool small_blocks;                   // for a head of usual size
  BlockPool large_blocks;                   // for a larger head, or a piece of a body
  traffic::ClientShares memory_of_clients;  // this worker's part of limits.buffer_bytes
  // Part of it: stored answers of jobs that clients are receiving, in total and by client.
  std::uint64_t answer_bytes = 0;
  traffic::ClientShares answers_of_clients{memory_of_clients.key()};
  PipePool pipes{};
  Mailbox mailbox{loop};
  WallClock wall_clock{};
  RecentEvents recent{};
  std::uint32_t pausing = 0;  // exchanges that pause before a retry
  SlotWatch slot_watch{};
  bool draining = false;

  // The start of the event that is handled now: waits and durations of a request are measured by
  // it, so that they are consistent. Clock::now() is for times that threads compare with one
  // another (ages and invalidations in the cache, tokens that workers share), and to check whether
  // the deadline for which the sweep, which reads the clock, woke a request has passed.
  TimePoint now() const { return loop.now(); }
};

}  // namespace spillway::proxy
